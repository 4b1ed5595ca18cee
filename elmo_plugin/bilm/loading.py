"""One way to say which biLM is meant: by name, by archive, or by its two files."""

from collections.abc import Hashable, Mapping
from functools import partial
from pathlib import Path

from elmo_plugin.bilm.archive import CONFIG_NAME, WEIGHTS_NAMES
from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.pretrained import MODELS, fetch
from elmo_plugin.bilm.sharing import load_shared


def load_bilm(source: str | Mapping[str, str], precision: str = "float32", shared: bool = False) -> BiLm:
    """
    # Parameters

    source : `str | Mapping[str, str]`
        A name of `elmo_plugin.bilm.pretrained.MODELS`, the path or URL of a training archive (or its
        directory), or `{"options": ..., "weights": ...}` with a pair of paths or URLs.
    precision : `str`
        See `BiLm`.
    shared : `bool`
        Whether others may get the same object, frozen: who asks for the same unchanged files again, while
        somebody holds it and nobody has changed or moved it.

    Raises `BiLmError` where it names no usable model.
    """
    if isinstance(source, str) and source not in MODELS:
        archive = _archive_path(source)
        files = [archive / name for name in (CONFIG_NAME, *WEIGHTS_NAMES)] if archive.is_dir() else [archive]
        load = partial(BiLm.from_archive, archive, precision)
    else:
        options, weights = map(fetch, _options_and_weights(source))
        files = [options, weights]
        load = partial(BiLm.from_files, options, weights, precision)
    return load_shared((*map(_identity, files), precision), load) if shared else load()


def _options_and_weights(source: str | Mapping[str, str]) -> tuple[str, str]:
    if isinstance(source, str):
        return MODELS[source]
    if not isinstance(source, Mapping) or set(source) != {"options", "weights"}:
        raise BiLmError(
            f'a biLM is given by name, by archive, or as {{"options": …, "weights": …}}, not as {source!r}'
        )
    return source["options"], source["weights"]


def _archive_path(source: str) -> Path:
    path = fetch(source)
    if not path.exists():
        raise BiLmError(
            f"there is no biLM {source!r}: it is neither one of {', '.join(MODELS)} nor a training archive"
        )
    return path


def _identity(file: Path) -> Hashable:
    """What changes when the file is written; `None` where there is none."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return file.resolve(), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
