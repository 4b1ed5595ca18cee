"""What `allennlp train` leaves behind for a `bilm` model, read without AllenNLP."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.io.hdf5_weights import PADDING_WORD, SoftmaxWeights
from elmo_plugin.bilm.io.layouts import TensorMapping, convert
from elmo_plugin.bilm.lexicon_encoder import make_token_encoder
from elmo_plugin.bilm.lstm import DirectionalLstm
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.bundled import archive_path
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_bytes
from elmo_plugin.common.formats.archives import read_members
from elmo_plugin.common.formats.json_files import as_object, parse_json
from elmo_plugin.common.formats.torch_files import check_all_finite, json_from_tensor, load_plain

CONFIG_NAME = "config.json"
# The first in an archive, the second in a serialization directory.
WEIGHTS_NAMES = ("weights.th", "best.th")
_PREFIX = "bilm."
_VOCABULARY = "vocabulary"


def read_archive(
    path: str | Path, with_softmax: bool = True
) -> tuple[BiLmOptions, dict[str, Tensor], SoftmaxWeights | None]:
    """
    Reads a trained `bilm` model from a `model.tar.gz` or the serialization directory of a training:
    its sizes, its weights for `BiLm.load_state_dict`, and, if `with_softmax`, its softmax, or
    `None` if that is not stored. Raises `BiLmError` if this is not the archive of a `bilm` model,
    or its parts do not match.
    """
    name = _name(path)

    def is_wanted(file: str) -> bool:
        return file == CONFIG_NAME or (with_softmax and file.startswith(_VOCABULARY))

    files = _read(path, is_wanted)
    config = _config(files, name)
    state = _state(files, name)
    sizes = BiLmOptions.from_dict(options_from_state(state, name), name)
    options = config["model"].get("options")
    if options:
        place = f"{name}, model.options"
        if BiLmOptions.from_dict(as_object(options, place), place) != sizes:
            raise BiLmError(f"{name}: the options in its {CONFIG_NAME} do not match its weights")
    weights = {}
    for key in state:
        if key.startswith(_PREFIX):
            weights[key.removeprefix(_PREFIX)] = state[key]
    check_weights(weights, sizes, name)
    softmax = None
    if with_softmax:
        softmax = _softmax(files, config, state, sizes, name)
    return sizes, weights, softmax


def read_state(archive: str | Path) -> dict[str, Any]:
    """
    Reads the weights from the archive or the training of any model, onto the CPU. Raises
    `BiLmError` if they are missing or damaged.
    """
    path = archive_path(archive)

    def is_wanted(file: str) -> bool:
        return False  # `_read` always reads the weights, and nothing else is needed

    files = _read(path, is_wanted)
    return _state(files, _name(path))


def options_from_state(state: dict[str, Any], name: str) -> dict[str, Any]:
    """
    Returns the options that a `bilm` model stores with its weights. Errors call the weights `name`.
    """
    if "_extra_state" not in state:
        raise BiLmError(f"{name}: the options of the biLM are missing in its weights")
    place = f"{name}, the options in its weights"
    metadata = as_object(json_from_tensor(state["_extra_state"], place), place)
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
    files: Mapping[str, bytes],
    config: dict[str, Any],
    state: dict[str, Any],
    options: BiLmOptions,
    name: str,
) -> SoftmaxWeights | None:
    """Returns the softmax with the words of the archive's vocabulary, in its numbering."""
    if "softmax.weight" not in state:
        return None
    file = f"{_VOCABULARY}/{config['model'].get('namespace', 'words')}.txt"
    if file not in files:
        raise BiLmError(f"{name}: {file} is missing")
    words = _read_words(files[file], f"{name}, {file}")
    weight = state.get("softmax.weight")
    bias = state.get("softmax.bias")
    dim = options.lstm.projection_dim
    if not isinstance(weight, Tensor) or weight.dim() != 2 or weight.size(1) != dim:
        raise BiLmError(f"{name}: its softmax.weight is not a matrix with {dim} columns")
    if not isinstance(bias, Tensor) or bias.shape != weight.shape[:1]:
        raise BiLmError(
            f"{name}: its softmax.bias is missing, or not of the size of softmax.weight"
        )
    if len(words) == len(weight) - 1:  # AllenNLP leaves out the padding, number 0
        words.insert(0, PADDING_WORD)
    if len(words) != len(weight):
        raise BiLmError(f"{name}: its softmax has {len(weight)} words, but {file} has {len(words)}")
    check_all_finite({"softmax.weight": weight, "softmax.bias": bias}.items(), name)
    return SoftmaxWeights(weight.float(), bias.float(), words)


def _read(path: str | Path, is_wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Reads the weights, and the other files that are wanted, of an archive or a directory."""

    def is_read(file: str) -> bool:
        return file in WEIGHTS_NAMES or is_wanted(file)

    folder = Path(path)
    if not folder.is_dir():
        return read_members(path, is_read)
    files = list(folder.iterdir())
    files += (folder / _VOCABULARY).glob("*")
    names = [file.relative_to(path).as_posix() for file in files if file.is_file()]
    wanted = [name for name in names if is_wanted(name)]
    for name in WEIGHTS_NAMES:
        if name in names:
            wanted.append(name)
            break  # weights are large, and only the first of these files is used
    contents = {}
    for name in wanted:
        contents[name] = read_bytes(folder / name, f"{_name(path)}: its {name}")
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
    file = present[0]
    state = load_plain(files[file], name)
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise BiLmError(f"{name}: its {file} holds no tensors with names")
    return state


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
