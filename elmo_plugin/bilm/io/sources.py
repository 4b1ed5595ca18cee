"""The sources of a biLM, in the order in which they are tried: a name, a path, a URL, the hub."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.io.hdf5_weights import (
    SoftmaxWeights,
    check_weights_file,
    read_dtype,
    read_softmax,
    read_weights,
    write_weights,
)
from elmo_plugin.bilm.io.pretrained import MODELS, fetch
from elmo_plugin.bilm.io.readme import CARD_NAME, Card, model_card, read_card
from elmo_plugin.bilm.io.training_archive import CONFIG_NAME, read_archive
from elmo_plugin.bilm.manylangs.folder import is_model_folder, read_folder
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, atomic_write_all, remove_leftovers

OPTIONS_NAME = "options.json"
WEIGHTS_NAME = "weights.hdf5"

Source = str | Path | Mapping[str, str]

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w.-]+)?")


class Checkpoint(NamedTuple):
    """
    options: the sizes
    weights: names and tensors for `BiLm.load_weights`; they may be read only while they are iterated over
    softmax: what the biLM was trained with, where it is stored with it and was asked for
    dtype: one of `DTYPES`, in which it is stored
    card: what the model card next to it says
    """

    options: BiLmOptions
    weights: Iterable[tuple[str, Tensor]]
    softmax: SoftmaxWeights | None = None
    dtype: str = "float32"
    card: Card | None = None


def read_checkpoint(source: Source, with_softmax: bool = True) -> Checkpoint:
    """
    Reads a stored biLM.

    # Parameters

    source : `str | Path | Mapping[str, str]`
        A name of `MODELS`, the path or URL of a training archive, the directory of a training, of a published
        pair of files (one `*options.json`, one `*weights.hdf5`) or of a model of ELMoForManyLangs, or
        `{"options": ..., "weights": ...}` with a pair of paths or URLs. A `Path` is never a name.
    with_softmax : `bool`
        Whether the softmax is read, too.

    Raises `BiLmError` where the source is not a usable model.
    """
    found = _locate(source)
    if isinstance(found, Path):
        if is_model_folder(found):
            options, weights = read_folder(found)
            return Checkpoint(options, weights.items())
        options, weights, softmax = read_archive(found, with_softmax=with_softmax)
        return Checkpoint(options, weights.items(), softmax)
    options_file, weights_file = found
    options = BiLmOptions.from_file(options_file)
    check_weights_file(weights_file, options)
    softmax = read_softmax(weights_file, options) if with_softmax else None
    stored = read_weights(weights_file, options)
    return Checkpoint(options, stored, softmax, read_dtype(weights_file), read_card(options_file.parent))


def write_files(folder: str | Path, checkpoint: Checkpoint) -> tuple[Path, Path]:
    """
    Writes a biLM as the two files of published ELMo models: both of them or neither. If a kill replaces only
    one of them, they are refused together.

    # Parameters

    folder : `str | Path`
        Where `options.json` and `weights.hdf5` are written. It is created if necessary.
    checkpoint : `Checkpoint`
        The biLM.

    # Returns

    `Path`, `Path`
        The options and the weights.

    Raises `BiLmError` if the weights are damaged or cannot be written, and `OSError` if the files cannot.
    """
    files = Path(folder) / OPTIONS_NAME, Path(folder) / WEIGHTS_NAME
    for file in files:
        if file.is_dir():
            raise BiLmError(f"{file} is a directory, where a file is to be written")
        remove_leftovers(folder, file.name)
    with atomic_write_all(files) as (options_file, weights_file):
        checkpoint.options.to_file(options_file)
        options, weights, softmax, dtype, _ = checkpoint
        state = dict(weights)
        try:
            write_weights(weights_file, state, options, dtype, softmax)
        except BiLmError as error:
            raise BiLmError(f"weight file {files[1]}: {error}") from None
    return files


def write_card(folder: str | Path, checkpoint: Checkpoint) -> None:
    """
    Writes a model card next to the files of a biLM, whose weights are read; one that is there stays. What the
    card of its source says about training data and licence is kept.
    """
    path = Path(folder) / CARD_NAME
    if path.exists():
        return
    options, weights, softmax, dtype, card = checkpoint
    parameters = sum(values.numel() for _, values in weights)
    vocabulary_size = len(softmax.words) if softmax else None
    text = model_card(path.parent.resolve().name, options, parameters, dtype, vocabulary_size, card)
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _locate(source: Source) -> Path | tuple[Path, Path]:
    """Returns an archive or the folder of a model, or an options and a weight file."""
    if isinstance(source, Mapping) and set(source) == {"options", "weights"}:
        return fetch(source["options"]), fetch(source["weights"])
    if not isinstance(source, str | Path):
        raise BiLmError(
            f'a biLM is given by name, by archive, or as {{"options": …, "weights": …}}, not as {source!r}'
        )
    if isinstance(source, str) and source in MODELS:
        options, weights = MODELS[source]
        return fetch(options), fetch(weights)
    path = fetch(source)
    if not path.exists() and isinstance(source, str) and _HUB_ID.fullmatch(source):
        try:
            path = fetch(f"hf://{source}")
        except BiLmError as error:
            raise BiLmError(f"biLM not found: {source} is neither a name nor a path, and {error}") from None
    if not path.exists():
        nearest = get_close_matches(str(source), MODELS, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"the names are {', '.join(MODELS)}"
        raise BiLmError(f"biLM not found: {source} is neither a name nor a path; {hint}")
    is_pair = path.is_dir() and not (path / CONFIG_NAME).is_file() and not is_model_folder(path)
    return _pair_in(path) if is_pair else path


def _pair_in(folder: Path) -> tuple[Path, Path]:
    """Finds the two files; published ones often have the model's name before the names here."""
    options, weights = (list(folder.glob(f"*{name}")) for name in (OPTIONS_NAME, WEIGHTS_NAME))
    if len(options) != 1 or len(weights) != 1:
        raise BiLmError(
            f"directory {folder}: has neither the {CONFIG_NAME} of a training, "
            f"nor one *{OPTIONS_NAME} and one *{WEIGHTS_NAME}"
        )
    return options[0], weights[0]
