"""Files that are written completely or not at all, with errors that name the file."""

import errno
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.outputs import is_special, target_of, write_into

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than files may be here (see ulimit -f)",
}
NO_ROOM = tuple(_REASONS)  # numbers of errors
OF_WRITING = (*NO_ROOM, errno.EIO, errno.EROFS)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """
    Yields a temporary path. It replaces `path` when the block succeeds, and is deleted when it fails. It is
    flushed to the disk first, so not even a power failure leaves a half-written file. Of a symlink the target
    is replaced. What is special, as `/dev/stdout`, gets the content and stays what it is.

    Raises `OSError`, naming `path`, if it cannot be written.
    """
    with atomic_write_all([Path(path)]) as (temporary,):
        yield temporary


@contextmanager
def atomic_write_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """
    Replaces several files as `atomic_write` replaces one: all of them or none. Only a kill between
    two renames can leave some new and some old, so their content must show whether they belong together.
    """
    with naming_file_in_errors(paths[0]), ExitStack() as stack:
        temporaries = [stack.enter_context(_temporary(path)) for path in paths]
        yield temporaries
        files = {}
        for path, temporary in zip(paths, temporaries, strict=True):
            if not is_special(path):
                files[target_of(path)] = temporary
                _flush_to_disk(temporary)
        _replace(files)
        for parent in {path.parent for path in files}:
            _flush_to_disk(parent)
        for path, temporary in zip(paths, temporaries, strict=True):
            if is_special(path):
                write_into(path, temporary)


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Yields a path of the same name in a folder of its own: next to a file, but not next to a device."""
    parent = None if is_special(path) else target_of(path).parent
    if parent is not None:
        parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=f".{path.name}.") as folder:
        yield Path(folder) / path.name


def _replace(temporaries: dict[Path, Path]) -> None:
    """Renames the temporary files. Restores the old files if one cannot be renamed."""
    old: dict[Path, Path | None] = {}
    try:
        for path, temporary in temporaries.items():
            last = len(old) == len(temporaries) - 1
            old[path] = None if last else _second_name(path, temporary.with_name(f"{path.name}.old"))
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
    """Links or copies a file to a second name, and returns that name; `None` if there is no file."""
    if not path.is_file():
        return None
    try:
        os.link(path, second)
    except OSError:
        shutil.copy2(path, second)
    return second


@contextmanager
def locked(lock: Path, timeout: float = -1) -> Iterator[None]:
    """
    Holds a lock, whose file it makes and removes. Raises `filelock.Timeout` if another process holds it for
    `timeout` seconds; -1 waits.
    """
    with FileLock(str(lock), timeout=timeout):
        try:
            yield
        finally:
            if os.name != "nt":  # Windows deletes no open file; there the lock's release deletes it
                lock.unlink(missing_ok=True)


@contextmanager
def naming_file_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Names `path` in an `OSError` of the block about writing."""
    try:
        yield
    except OSError as error:
        temporary = f".{Path(path).name}." in str(error.filename)
        if error.errno in OF_WRITING or temporary:
            raise type(error)(error.errno, f"could not write {path}: {reason(error)}") from error
        raise


def reason(error: OSError) -> str:
    """Returns why a file could not be read or written."""
    return _REASONS.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__


def _flush_to_disk(path: Path) -> None:
    """Flushes a file, or the names in a folder. Windows opens no folder, and flushes writable files only."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_bytes(path: str | os.PathLike[str], name: str) -> bytes:
    """Reads a file. Raises `BiLmError`, which calls it `name`, if it is missing or cannot be read."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise BiLmError(f"{name}: there is no such file") from None
    except OSError as error:
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None


def checksum(*parts: bytes | memoryview | np.ndarray, start: int = 0) -> int:
    """
    Returns the CRC-32 of the bytes of all parts, arrays in row-major order, that come after content whose
    CRC-32 is `start`. It detects every change of up to four bytes in a row, and misses other damage once in
    four billion cases. It does not protect against forgery. It reads about 2.5 GB a second.
    """
    crc = start
    for part in parts:
        if isinstance(part, np.ndarray):
            part = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        crc = zlib.crc32(part, crc)
    return crc


def remove_leftovers(folder: str | Path, pattern: str) -> None:
    """Removes the temporary files that a killed process left for files whose name matches `pattern`."""
    for leftover in Path(folder).glob(f".{pattern}.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def write_json(path: str | Path, content: Any) -> None:
    """Writes an indented JSON file."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
