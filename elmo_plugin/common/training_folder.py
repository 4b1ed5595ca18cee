"""The kinds of the entries in the folder of a training: files and folders."""

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
    Raises `BiLmError`, beginning with `name`, if an entry of a training's folder is of another kind
    than a training writes: a folder in place of a file, a pipe from which reading would never end,
    a link that leads to itself. Entries may be missing.
    """
    vocabulary = folder / _VOCABULARY
    _check_kind(vocabulary, kind=stat.S_IFDIR, expected="a folder", name=name)
    for file in _expected_files(folder):
        _check_kind(file, kind=stat.S_IFREG, expected="a file", name=name)


def _expected_files(folder: Path) -> Iterator[Path]:
    """Yields the entries that should be files, in the folder and in its vocabulary."""
    for path in folder.iterdir():
        if any(fnmatchcase(path.name, pattern) for pattern in _FILES):
            yield path
    if (folder / _VOCABULARY).is_dir():
        yield from (folder / _VOCABULARY).iterdir()


def _check_kind(path: Path, kind: int, expected: str, name: str) -> None:
    """
    Raises `BiLmError`, beginning with `name`, if an entry is not of the kind, such as `S_IFREG`, or
    cannot be read. The message calls the kind `expected`.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return  # an entry is missing, or a link to nothing
    except OSError as error:
        raise BiLmError(f"{name}: its {path.name} cannot be read ({reason(error)})") from None
    if stat.S_IFMT(mode) != kind:
        raise BiLmError(f"{name}: its {path.name} is not {expected}")
