"""One way to say which biLM is meant: by name, by archive, by its two files, or by its folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.io.hdf5_weights import SoftmaxWeights, read_dtype, read_softmax, read_weights
from elmo_plugin.bilm.io.manylangs_weights import is_model_folder, read_folder
from elmo_plugin.bilm.io.pretrained import MODELS, fetch
from elmo_plugin.bilm.io.training_archive import (
    CONFIG_NAME,
    read_archive,
    read_archive_with_softmax,
)
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.errors import BiLmError

OPTIONS_NAME = "options.json"
WEIGHTS_NAME = "weights.hdf5"


class Checkpoint(NamedTuple):
    """
    options: its sizes
    weights: for `BiLm.load_state_dict`
    softmax: what it was trained with, where it is stored beside the biLM
    dtype: one of `weights.DTYPES`, in which it is stored
    """

    options: BiLmOptions
    weights: dict[str, Tensor]
    softmax: SoftmaxWeights | None
    dtype: str


def read_checkpoint(source: str | Mapping[str, str], with_softmax: bool = True) -> Checkpoint:
    """
    Reads all that is stored of a biLM, to go on training or to write it elsewhere.

    # Parameters

    source : `str | Mapping[str, str]`
        As for `load_bilm`.
    with_softmax : `bool`
        Whether the softmax is read, too.

    Raises `BiLmError` where it names no usable model.
    """
    found = find_files(source)
    if isinstance(found, Path) and is_model_folder(found):
        return Checkpoint(*read_folder(found), None, "float32")
    if isinstance(found, Path):
        stored = read_archive_with_softmax(found) if with_softmax else (*read_archive(found), None)
        return Checkpoint(*stored, "float32")
    options_file, weights_file = found
    options = BiLmOptions.from_file(options_file)
    weights = dict(read_weights(weights_file, options))
    softmax = read_softmax(weights_file, options) if with_softmax else None
    return Checkpoint(options, weights, softmax, read_dtype(weights_file))


def find_files(source: str | Mapping[str, str]) -> Path | tuple[Path, Path]:
    """A training archive (or its directory), a model's folder, or an options and a weight file."""
    if isinstance(source, Mapping) and set(source) == {"options", "weights"}:
        return fetch(source["options"]), fetch(source["weights"])
    if not isinstance(source, str):
        raise BiLmError(
            f'a biLM is given by name, by archive, or as {{"options": …, "weights": …}}, not as {source!r}'
        )
    if source in MODELS:
        options, weights = MODELS[source]
        return fetch(options), fetch(weights)
    path = fetch(source)
    if not path.exists():
        raise BiLmError(
            f"there is no biLM {source!r}: it is neither one of {', '.join(MODELS)} nor a training archive"
        )
    is_pair = path.is_dir() and not (path / CONFIG_NAME).is_file() and not is_model_folder(path)
    return _pair_in(path) if is_pair else path


def _pair_in(folder: Path) -> tuple[Path, Path]:
    """Published files often have the model's name before `options.json` and `weights.hdf5`."""
    options, weights = (list(folder.glob(f"*{name}")) for name in (OPTIONS_NAME, WEIGHTS_NAME))
    if len(options) != 1 or len(weights) != 1:
        raise BiLmError(
            f"directory {folder}: has neither the {CONFIG_NAME} of a training, "
            f"nor one *{OPTIONS_NAME} and one *{WEIGHTS_NAME}"
        )
    return options[0], weights[0]
