"""Loads a biLM from wherever it is; those that may be shared are in memory once."""

from collections.abc import Hashable, Mapping
from functools import partial
from pathlib import Path

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.io.manylangs_weights import files_of, is_model_folder
from elmo_plugin.bilm.io.sources import find_files
from elmo_plugin.bilm.io.training_archive import CONFIG_NAME, WEIGHTS_NAMES
from elmo_plugin.bilm.sharing import load_shared


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
    found = find_files(source)
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


def _identity(file: Path) -> Hashable:
    """What changes when the file is written; `None` where there is none."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return file.resolve(), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
