"""One way to say which biLM is meant: by name, by archive, by its two files, or by its folder."""

from collections.abc import Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.io.hdf5_weights import SoftmaxWeights, read_dtype, read_softmax, read_weights
from elmo_plugin.bilm.io.manylangs_weights import files_of, is_model_folder, read_folder
from elmo_plugin.bilm.io.pretrained import MODELS, fetch
from elmo_plugin.bilm.io.training_archive import (
    CONFIG_NAME,
    WEIGHTS_NAMES,
    read_archive,
    read_archive_with_softmax,
)
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.sharing import load_shared
from elmo_plugin.common.errors import BiLmError

OPTIONS_NAME = "options.json"
WEIGHTS_NAME = "weights.hdf5"


class StoredBiLm(NamedTuple):
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


def load_bilm(source: str | Mapping[str, str], precision: str = "float32", shared: bool = False) -> BiLm:
    """
    # Parameters

    source : `str | Mapping[str, str]`
        A name of `elmo_plugin.bilm.io.pretrained.MODELS`, the path or URL of a training archive, the
        directory of a training, of a published pair of files (one `*options.json`, one `*weights.hdf5`) or of
        a model of ELMoForManyLangs, or `{"options": ..., "weights": ...}` with a pair of paths or URLs.
    precision : `str`
        See `BiLm`.
    shared : `bool`
        Whether others may get the same object, frozen: who asks for the same unchanged files again, while
        somebody holds it and nobody has changed or moved it.

    Raises `BiLmError` where it names no usable model.
    """
    found = _find(source)
    if not isinstance(found, Path):
        files = list(found)
        load = partial(BiLm.from_files, *found, precision)
    elif is_model_folder(found):
        files = files_of(found)
        load = partial(BiLm.from_manylangs, found, precision)
    else:
        files = [found / name for name in (CONFIG_NAME, *WEIGHTS_NAMES)] if found.is_dir() else [found]
        load = partial(BiLm.from_archive, found, precision)
    return load_shared((*map(_identity, files), precision), load) if shared else load()


def read_stored(source: str | Mapping[str, str], with_softmax: bool = True) -> StoredBiLm:
    """
    Reads all that is stored of a biLM, to go on training or to write it elsewhere.

    # Parameters

    source : `str | Mapping[str, str]`
        As for `load_bilm`.
    with_softmax : `bool`
        Whether the softmax is read, too.

    Raises `BiLmError` where it names no usable model.
    """
    found = _find(source)
    if isinstance(found, Path) and is_model_folder(found):
        return StoredBiLm(*read_folder(found), None, "float32")
    if isinstance(found, Path):
        stored = read_archive_with_softmax(found) if with_softmax else (*read_archive(found), None)
        return StoredBiLm(*stored, "float32")
    options_file, weights_file = found
    options = BiLmOptions.from_file(options_file)
    weights = dict(read_weights(weights_file, options))
    softmax = read_softmax(weights_file, options) if with_softmax else None
    return StoredBiLm(options, weights, softmax, read_dtype(weights_file))


def _find(source: str | Mapping[str, str]) -> Path | tuple[Path, Path]:
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


def _identity(file: Path) -> Hashable:
    """What changes when the file is written; `None` where there is none."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return file.resolve(), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
