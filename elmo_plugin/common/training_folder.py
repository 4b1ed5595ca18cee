"""Checks that a training's folder has files and folders where a training writes them."""

import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import reason

_PATTERNS_OF_FILES = (
    "config.json",
    "meta.json",
    "*.th",
    "metrics.json",
    "metrics_epoch_*.json",
    "out.log",
)
_VOCABULARY = "vocabulary"
_NAME_OF_KIND = {stat.S_IFREG: "a file", stat.S_IFDIR: "a folder"}


def check_kinds(folder: Path, name: str) -> None:
    """
    Raises `BiLmError`, beginning with `name`, if an entry of a training's folder is not of the kind
    that a training writes: it may be a folder in place of a file, a pipe from which reading would
    never end, or a link that leads to itself. Entries may be missing.
    """
    _check_kind(folder / _VOCABULARY, stat.S_IFDIR, name)
    for file in _expected_files(folder):
        _check_kind(file, stat.S_IFREG, name)


def _expected_files(folder: Path) -> Iterator[Path]:
    """Yields the entries that should be files, in the folder itself and in its vocabulary."""
    for path in folder.iterdir():
        if any(fnmatchcase(path.name, pattern) for pattern in _PATTERNS_OF_FILES):
            yield path
    if (folder / _VOCABULARY).is_dir():
        yield from (folder / _VOCABULARY).iterdir()


def _check_kind(path: Path, kind: int, name: str) -> None:
    """
    Raises `BiLmError`, beginning with `name`, if an entry is not of a kind, such as `S_IFREG`, or
    its kind cannot be read.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return  # The entry is missing, or a link to nothing.
    except OSError as error:
        raise BiLmError(f"{name}: its {path.name} cannot be read ({reason(error)})") from None
    if stat.S_IFMT(mode) != kind:
        raise BiLmError(f"{name}: its {path.name} is not {_NAME_OF_KIND[kind]}")
