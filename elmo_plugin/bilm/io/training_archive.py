"""What `allennlp train` leaves behind for a `bilm` model, read without AllenNLP."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.io.layouts import TensorMapping, convert
from elmo_plugin.bilm.io.softmax_weights import PADDING_WORD, SoftmaxWeights
from elmo_plugin.bilm.lexicon_encoder import make_token_encoder
from elmo_plugin.bilm.lstm import DirectionalLstm
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.bundled import archive_path
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_bytes
from elmo_plugin.common.formats.archives import read_members
from elmo_plugin.common.formats.json_files import as_object, parse_json
from elmo_plugin.common.formats.torch_files import (
    EXTRA_STATE,
    check_all_finite,
    json_from_tensor,
    load_state,
)

CONFIG_NAME = "config.json"
# The first in an archive, the second in a serialization directory.
WEIGHTS_NAMES = ("weights.th", "best.th")
_PREFIX = "bilm."
_VOCABULARY = "vocabulary"
_SOFTMAX_WEIGHT = "softmax.weight"
_SOFTMAX_BIAS = "softmax.bias"


class TrainedBiLm(NamedTuple):
    """
    A trained `bilm` model.

    options: its sizes
    weights: for `BiLm.load_state_dict`
    softmax: `None` if it is not stored, or was not asked for
    """

    options: BiLmOptions
    weights: dict[str, Tensor]
    softmax: SoftmaxWeights | None


def read_archive(path: str | Path, with_softmax: bool = True) -> TrainedBiLm:
    """
    Reads a trained `bilm` model from a `model.tar.gz` or the serialization directory of a training.
    Raises `BiLmError` if this is not the archive of a `bilm` model, or its parts do not match.
    """
    name = _name(path)

    def is_wanted(file: str) -> bool:
        if file.startswith(_VOCABULARY):
            return with_softmax
        return file == CONFIG_NAME or file in WEIGHTS_NAMES

    files = _read_files(path, is_wanted)
    config = _config(files, name)
    state = _state(files, name)
    sizes = BiLmOptions.from_dict(options_from_state(state, name), name)
    _check_config_options(config, sizes, name)
    weights = {}
    for key in state:
        if key.startswith(_PREFIX):
            weights[key.removeprefix(_PREFIX)] = state[key]
    check_weights(weights, sizes, name)
    softmax = None
    if with_softmax and _SOFTMAX_WEIGHT in state:
        words_file = f"{_VOCABULARY}/{config['model'].get('namespace', 'words')}.txt"
        softmax = _softmax(files, words_file, state, sizes.lstm.projection_dim, name)
    return TrainedBiLm(sizes, weights, softmax)


def _check_config_options(config: Mapping[str, Any], sizes: BiLmOptions, name: str) -> None:
    """Raises `BiLmError` if the configuration has other options than the weights."""
    options = config["model"].get("options")
    if not options:  # the training began with a stored biLM, `initial`, instead of options
        return
    place = f"{name}, model.options"
    if BiLmOptions.from_dict(as_object(options, place), place) != sizes:
        raise BiLmError(f"{name}: the options in its {CONFIG_NAME} do not match its weights")


def read_state(archive: str | Path) -> dict[str, Any]:
    """
    Reads the weights from the archive or the training of any model, onto the CPU. Raises
    `BiLmError` if they are missing or damaged.
    """
    path = archive_path(archive)

    def is_wanted(file: str) -> bool:
        return file in WEIGHTS_NAMES

    files = _read_files(path, is_wanted)
    return _state(files, _name(path))


def weights_file(folder: Path) -> Path | None:
    """Returns the file of weights in the folder of an archive or of a training, if there is one."""
    for name in WEIGHTS_NAMES:
        file = folder / name
        if file.is_file():
            return file
    return None


def options_from_state(state: dict[str, Any], name: str) -> dict[str, Any]:
    """
    Returns the options that a `bilm` model stores with its weights. Messages of errors begin with
    `name`, the file of the weights.
    """
    if EXTRA_STATE not in state:
        raise BiLmError(f"{name}: the options of the biLM are missing in its weights")
    place = f"{name}, the options in its weights"
    metadata = as_object(json_from_tensor(state[EXTRA_STATE], place), place)
    return as_object(metadata.get("options"), place)


def check_weights(weights: Mapping[str, Any], options: BiLmOptions, name: str) -> None:
    """
    Raises `BiLmError`, beginning with `name`, unless these are the weights of a biLM of these
    sizes, without NaN or infinite numbers.
    """
    with torch.device("meta"):  # takes no memory, whatever the sizes
        lstm = DirectionalLstm(options.lstm)  # both directions have the same shapes
        modules = {
            "token_encoder": make_token_encoder(options),
            "forward_lm": lstm,
            "backward_lm": lstm,
        }
        expected = nn.ModuleDict(modules).state_dict()
    # `convert` checks names, shapes and numbers; here each tensor keeps its name.
    mappings = []
    for tensor, values in expected.items():
        mappings.append(TensorMapping(tensor, (tensor,), tuple(values.shape)))
    convert(weights, mappings, name)


def _softmax(
    files: Mapping[str, bytes], words_file: str, state: Mapping[str, Any], dim: int, name: str
) -> SoftmaxWeights:
    """Returns the softmax with the words of the archive's vocabulary, in its numbering."""
    if words_file not in files:
        raise BiLmError(f"{name}: {words_file} is missing")
    words = _read_words(files[words_file], f"{name}, {words_file}")
    weight = state[_SOFTMAX_WEIGHT]
    bias = state.get(_SOFTMAX_BIAS)
    if not isinstance(weight, Tensor) or weight.dim() != 2 or weight.size(1) != dim:
        raise BiLmError(f"{name}: its {_SOFTMAX_WEIGHT} is not a matrix with {dim} columns")
    if not isinstance(bias, Tensor) or bias.shape != weight.shape[:1]:
        raise BiLmError(
            f"{name}: its {_SOFTMAX_BIAS} is missing, or not of the size of {_SOFTMAX_WEIGHT}"
        )
    if len(words) == len(weight) - 1:  # AllenNLP leaves out the padding, number 0
        words.insert(0, PADDING_WORD)
    if len(words) != len(weight):
        raise BiLmError(
            f"{name}: its softmax has {len(weight)} words, but {words_file} has {len(words)}"
        )
    check_all_finite({_SOFTMAX_WEIGHT: weight, _SOFTMAX_BIAS: bias}.items(), name)
    return SoftmaxWeights(weight.float(), bias.float(), words)


def _read_files(path: str | Path, is_wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Reads the files of an archive or a serialization directory whose names are wanted."""
    directory = Path(path)
    if directory.is_dir():
        return _read_directory(directory, is_wanted)
    return read_members(path, is_wanted)


def _read_directory(directory: Path, is_wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """
    Reads the wanted files of a serialization directory. If it has several files of weights, only
    the first of `WEIGHTS_NAMES` is read: they are large, and no other one is used.
    """
    paths = [*directory.iterdir(), *(directory / _VOCABULARY).glob("*")]
    used_weights = weights_file(directory)
    contents = {}
    for path in paths:
        name = path.relative_to(directory).as_posix()
        is_unused = name in WEIGHTS_NAMES and path != used_weights
        if path.is_file() and is_wanted(name) and not is_unused:
            contents[name] = read_bytes(path, f"{_name(directory)}: its {name}")
    return contents


def _name(path: str | Path) -> str:
    """Returns the name of an archive or a directory in error messages."""
    kind = "directory" if Path(path).is_dir() else "archive"
    return f"{kind} {path}"


def _state(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Returns the tensors of the first weights file, by name."""
    present = [file for file in WEIGHTS_NAMES if file in files]
    if not present:
        raise BiLmError(f"{name}: {' or '.join(WEIGHTS_NAMES)} is missing")
    return load_state(files[present[0]], name)


def _config(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Returns the configuration. Raises `BiLmError` unless its model is a `bilm`."""
    if CONFIG_NAME not in files:
        raise BiLmError(f"{name}: {CONFIG_NAME} is missing")
    place = f"{name}, its {CONFIG_NAME}"
    config = as_object(parse_json(files[CONFIG_NAME], place), place)
    model_type = as_object(config.get("model", {}), f"{name}, model").get("type")
    if model_type != "bilm":
        hint = "; in Python, the BiLm among load_archive(…).model.modules() has save_pretrained"
        raise BiLmError(f"{name}: expected a model of type 'bilm', got {model_type!r}{hint}")
    return config


def _read_words(content: bytes, name: str) -> list[str]:
    """Returns the words of a vocabulary file of AllenNLP, one per line."""
    try:
        lines = re.split(r"\r?\n", content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BiLmError(f"{name}: not UTF-8 ({error})") from None
    if lines[-1] == "":
        lines.pop()
    return [line.replace("@@NEWLINE@@", "\n") for line in lines]
