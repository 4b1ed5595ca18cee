"""The kinds of the entries in the folder of a training: files and folders."""

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import reason

_FILES = ("config.json", "meta.json", "*.th", "metrics.json", "metrics_epoch_*.json", "out.log")
_VOCABULARY = "vocabulary"


def check_kinds(folder: Path, name: str) -> None:
    """
    Raises `BiLmError`, beginning with `name`, if an entry of a training's folder is something else
    than a training writes there: a folder, a pipe from which reading would never end, a link that
    leads to itself.
    """
    vocabulary = folder / _VOCABULARY
    if os.path.lexists(vocabulary):
        _check_kind(vocabulary, stat.S_IFDIR, "a folder", name)
    for file in _expected_files(folder):
        _check_kind(file, stat.S_IFREG, "a file", name)


def _expected_files(folder: Path) -> Iterator[Path]:
    """Yields the entries that should be files."""
    for path in folder.iterdir():
        if any(fnmatchcase(path.name, pattern) for pattern in _FILES):
            yield path
    if (folder / _VOCABULARY).is_dir():
        yield from (folder / _VOCABULARY).iterdir()


def _check_kind(path: Path, kind: int, expected: str, name: str) -> None:
    """Raises `BiLmError` if an entry is not of a kind, such as `S_IFREG`, or cannot be read."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return  # a link to nothing counts as a missing file
    except OSError as error:
        raise BiLmError(f"{name}: its {path.name} cannot be read ({reason(error)})") from None
    if stat.S_IFMT(mode) != kind:
        raise BiLmError(f"{name}: its {path.name} is not {expected}")
