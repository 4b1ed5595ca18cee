"""
Files that are written completely or not at all, never over an input, with errors that name the
file.
"""

import errno
import json
import logging
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from glob import escape, iglob
from pathlib import Path
from typing import Any, BinaryIO

from elmo_plugin.common.errors import BiLmError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

StrPath = str | os.PathLike[str]

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}  # their file descriptors
_MODEL_FILES = ("config.json", "options.json")  # a folder with one of them is read as a model
_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than files may be here (see ulimit -f)",
}
NO_ROOM = tuple(_REASONS)
_SECONDS_TO_LOCK = 1
_OF_WRITING = (*NO_ROOM, errno.EIO, errno.EROFS)


@contextmanager
def atomic_write(path: StrPath) -> Iterator[Path]:
    """
    Yields a temporary path; flushes it to the disk and renames it to `path` when the block
    succeeds. Symlinks are followed; special files (/dev/stdout) are written to. Raises `OSError`,
    naming `path`.
    """
    with atomic_write_all([Path(path)]) as (temporary,):
        yield temporary


@contextmanager
def atomic_write_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """
    Writes several files as `atomic_write` writes one. Only a kill or an error between two renames
    can leave some new and some old, so their content must show whether they belong together.
    """
    try:
        with ExitStack() as stack:
            temporaries = [stack.enter_context(_temporary(path)) for path in paths]
            yield temporaries
            for path, temporary in zip(paths, temporaries, strict=True):
                if not is_special(path):
                    _flush_to_disk(temporary)
            for path, temporary in zip(paths, temporaries, strict=True):
                if is_special(path):
                    with open(temporary, "rb") as content, open_special(path) as target:
                        shutil.copyfileobj(content, target)
                else:
                    temporary.replace(target_of(path))
                    _flush_to_disk(target_of(path).parent)
    except OSError as error:
        is_of_temporary = f".{paths[0].name}." in str(error.filename)
        if is_of_temporary or error.errno in _OF_WRITING:
            message = f"could not write {paths[0]}: {reason(error)}"
            raise type(error)(error.errno, message) from error
        raise


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """
    Yields a path in a new folder, next to `path` if possible; removes such folders of killed
    processes.
    """
    parent = None if is_special(path) else target_of(path).parent
    if parent is not None:
        parent.mkdir(parents=True, exist_ok=True)
        for leftover in parent.glob(f".{escape(path.name)}.{'?' * 8}"):
            _remove_abandoned(leftover, path.name)
    with (
        tempfile.TemporaryDirectory(dir=parent, prefix=f".{path.name}.") as folder,
        _locked_folder(Path(folder), wait=True),
    ):
        yield Path(folder) / path.name


def _remove_abandoned(folder: Path, name: str) -> None:
    """
    Removes the temporary folder of a process that was killed. A new one is empty before it is
    locked.
    """
    with suppress(OSError), _locked_folder(folder, wait=False):
        is_old = time.time() - folder.stat().st_mtime > _SECONDS_TO_LOCK
        content = [entry.name for entry in folder.iterdir()]
        if content == [name] or (is_old and not content):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked_folder(folder: Path, wait: bool) -> Iterator[None]:
    """
    Locks a folder in the block, until this process ends. Raises `OSError` if another process holds
    it.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    mode = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
    try:
        try:
            fcntl.flock(descriptor, mode)
        except OSError:
            if not wait:  # otherwise this file system has no locks
                raise
        yield
    finally:
        os.close(descriptor)


def remove_leftovers(folder: str | Path, pattern: str) -> None:
    """
    Removes the temporary files that a killed process left for files whose name matches `pattern`.
    """
    for leftover in Path(folder).glob(f".{pattern}.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _flush_to_disk(path: Path) -> None:
    """Flushes a file, or the names in a folder."""
    if os.name == "nt":  # cannot open folders
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(lock: Path, timeout: float = -1) -> Iterator[None]:
    """
    Holds a lock. Raises `filelock.Timeout` if another process holds it for `timeout` seconds; -1
    waits.
    """
    from filelock import FileLock  # here, because `elmo --help` would wait for it

    with FileLock(str(lock), timeout=timeout):
        try:
            yield
        finally:
            if os.name != "nt":  # Windows deletes no open file; there releasing the lock deletes it
                lock.unlink(missing_ok=True)


def reason(error: OSError) -> str:
    """Returns why a file could not be read or written."""
    return _REASONS.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__


def read_bytes(path: Any, name: str) -> bytes:
    """
    Reads a file, or one in a zip archive. Raises `BiLmError`, beginning with `name`, if it cannot.
    """
    if isinstance(path, str | os.PathLike):
        path = Path(path)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BiLmError(f"{name}: file not found") from None
    except OSError as error:
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None


def write_json(path: str | Path, content: Any) -> None:
    """Writes an indented JSON file."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def close_log_files() -> None:
    """
    Closes the log files that AllenNLP left open when its trainings ended. Their folders may move
    now.
    """
    # The second writes next to progress bars.
    for logger in (logging.getLogger(), logging.getLogger("tqdm")):
        for handler in [each for each in logger.handlers if type(each) is logging.FileHandler]:
            logger.removeHandler(handler)
            handler.close()


def check_outputs(outputs: Iterable[StrPath], inputs: Iterable[Any]) -> None:
    """
    Raises `BiLmError` if an output is a folder, cannot be written, or is another output or a file
    that `inputs`, the other arguments of a command, name, also by a link.
    """
    taken: dict[object, str] = {
        _identity(path): f"an input ({path})" for path in _named_files(inputs)
    }
    for path in outputs:
        refuse_folder(path)
        if is_special(path):
            continue
        real = target_of(path).absolute()
        folder = next(parent for parent in real.parents if parent.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise BiLmError(f"cannot write {path}: {folder} is not a writable folder")
        identity = _identity(path) or real
        if identity in taken:
            raise BiLmError(f"the output {path} is also {taken[identity]}")
        taken[identity] = "another output"


def refuse_folder(path: StrPath) -> None:
    """Raises `BiLmError` if an output is a folder."""
    if os.path.isdir(path):
        raise BiLmError(f"{path} is a directory; name a file to be written")


def _named_files(arguments: Iterable[Any]) -> Iterator[str]:
    """
    Yields the files that arguments may name: FILE, FILE:VARIANT, a pattern, the folder of a model.
    """
    for value in arguments:
        if isinstance(value, list | tuple):
            yield from _named_files(value)
        elif isinstance(value, str):
            for text in {value, *value.split(":")} - {""}:
                text = os.path.expanduser(text)
                yield text
                yield from iglob(text)
                if any(os.path.isfile(os.path.join(text, name)) for name in _MODEL_FILES):
                    yield from (entry.path for entry in os.scandir(text))


def is_special(path: StrPath) -> bool:
    """
    Returns whether a path is a stream, a device or a pipe, to be written to and never replaced.
    """
    is_other = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    return is_other or os.fspath(path) in _STREAMS


def open_special(path: StrPath) -> BinaryIO:
    """Opens something special for writing; a stream continues after earlier output."""
    stream = _STREAMS.get(os.fspath(path))
    if stream is None:
        return open(path, "wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(stream), "wb")


def target_of(path: StrPath) -> Path:
    """Returns the file (maybe missing) that a symlink leads to, or the path itself."""
    if os.path.islink(path):
        return Path(os.path.realpath(path))
    return Path(path)


def _identity(path: StrPath) -> tuple[int, int] | None:
    """Returns the device and the inode of a regular file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino
