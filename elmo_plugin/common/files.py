"""Files, written so that a failure leaves nothing half-written; errors say which file it was."""

import errno
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from elmo_plugin.common.errors import BiLmError

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than files may be here (see ulimit -f)",
}
NO_ROOM = tuple(_REASONS)  # numbers of errors
_OF_WRITING = (*NO_ROOM, errno.EIO, errno.EROFS)


@contextmanager
def replace_when_written(path: str | os.PathLike[str]) -> Iterator[Path]:
    """
    Yields a temporary path next to `path`, which takes the place of `path` when the block succeeds
    and is deleted when it fails. What takes the place is on the disk by then, so that not even a power
    failure leaves half of it.

    Raises `OSError`, naming `path`, where it cannot be written.
    """
    with replace_together([Path(path)]) as (temporary,):
        yield temporary


@contextmanager
def replace_together(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """
    Does what `replace_when_written` does for several files of one folder: where one of them cannot take its
    place, none does. Only a kill between two renames can leave some of them new and some old, so that they
    have to tell by themselves whether they belong together.
    """
    parent = paths[0].parent
    with errors_name(paths[0]):
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".{paths[0].name}.") as folder:
            temporaries = [Path(folder) / path.name for path in paths]
            yield temporaries
            for temporary in temporaries:
                _flush_to_disk(temporary)
            _replace(dict(zip(paths, temporaries, strict=True)), Path(folder))
            _flush_to_disk(parent)


def _replace(temporaries: dict[Path, Path], folder: Path) -> None:
    """Renames the temporary file of each path. Puts the old files back where one cannot be renamed."""
    old: dict[Path, Path | None] = {}
    try:
        for path, temporary in temporaries.items():
            last = len(old) == len(temporaries) - 1
            old[path] = None if last else _second_name(path, folder / f"{path.name}.old")
            os.replace(temporary, path)
    except OSError:
        for path in list(old)[:-1]:
            before = old[path]
            if before is None:
                path.unlink()
            else:
                os.replace(before, path)
        raise


def _second_name(path: Path, second: Path) -> Path | None:
    """Gives a file a second name, or a copy where the disk knows none. Returns it, if there is a file."""
    if not path.is_file():
        return None
    try:
        os.link(path, second)
    except OSError:
        shutil.copy2(path, second)
    return second


@contextmanager
def errors_name(path: str | os.PathLike[str]) -> Iterator[None]:
    """Names `path` in an `OSError` of the block which says that it could not be written, but not which."""
    try:
        yield
    except OSError as error:
        temporary = f".{Path(path).name}." in str(error.filename)
        if error.errno in _OF_WRITING or temporary:
            raise type(error)(error.errno, f"could not write {path}: {reason(error)}") from error
        raise


def reason(error: OSError) -> str:
    """Returns in words why a file could not be read or written."""
    known = _REASONS.get(error.errno or 0)
    return known or error.strerror or str(error) or type(error).__name__


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_bytes(path: str | os.PathLike[str], name: str) -> bytes:
    """Reads a file. Raises `BiLmError`, which calls it `name`, where it is missing or cannot be read."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise BiLmError(f"{name}: there is no such file") from None
    except OSError as error:
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None


def checksum(*parts: bytes | memoryview | np.ndarray) -> int:
    """
    Returns the CRC-32 of the bytes of all parts, one after another, arrays in row-major order. It sees every
    change of up to four bytes in a row and other damage but for one case in four billion; it is no defence
    against somebody who means harm. It reads about 2.5 GB a second.
    """
    crc = 0
    for part in parts:
        if isinstance(part, np.ndarray):
            part = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        crc = zlib.crc32(part, crc)
    return crc


def remove_leftovers(folder: str | Path, pattern: str) -> None:
    """Removes what a killed process left of new files whose name matches `pattern`."""
    for leftover in Path(folder).glob(f".{pattern}.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def write_json(path: str | Path, content: Any) -> None:
    """Writes a JSON file for people to read, whole or not at all."""
    with replace_when_written(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
