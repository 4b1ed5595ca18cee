"""Files that are written completely or not at all, with errors that name the file."""

import errno
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

from elmo_plugin.common.errors import BiLmError, message_of

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

StrPath = str | os.PathLike[str]

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}  # their file descriptors
_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than files may be here (see ulimit -f)",
}
NO_ROOM = tuple(_REASONS)
# Numbers of errors that only writing raises. Such an error does not say which file was written.
_ERRORS_OF_WRITING = (*NO_ROOM, errno.EIO, errno.EROFS)
PARTS = "parts"
"""A folder for the parts of an output, beside the temporary file that `atomic_write` yields."""
# The time in which a process that is killed ends. Its connections may be closed before its locks
# are free, so others can know of its end too early. On an idle machine it ends at once.
_SECONDS_TO_END = 5


@contextmanager
def atomic_write(path: StrPath) -> Iterator[Path]:
    """
    Yields a temporary path for the block to write. If the block succeeds, the file there is flushed
    to the disk and renamed to `path`. If `path` is a symlink, the file that it leads to is
    replaced; if it is special, such as /dev/stdout, the content is written to it. Raises `OSError`,
    naming `path`.
    """
    with atomic_write_all([Path(path)]) as (temporary,):
        yield temporary


@contextmanager
def atomic_write_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """
    Writes several files as `atomic_write` writes one. A kill or an error between two renames leaves
    new files beside old ones, so the content of the files must show whether they belong together.
    """
    try:
        with ExitStack() as stack:
            temporaries = [stack.enter_context(_temporary_path(path)) for path in paths]
            yield temporaries
            # All are on the disk before the first is renamed, so all renames come close together.
            for path, temporary in zip(paths, temporaries, strict=True):
                if not is_special(path):
                    _flush_to_disk(temporary)
            for path, temporary in zip(paths, temporaries, strict=True):
                _move(temporary, path)
    except OSError as error:
        written = _file_not_written(error, paths)
        if written is None:
            raise
        message = f"could not write {written}: {reason(error)}"
        raise type(error)(error.errno, message) from error


def _file_not_written(error: OSError, paths: Sequence[Path]) -> Path | None:
    """
    Returns which of the files an error kept from being written, or `None` if the error is about
    something else, such as a file that the block reads.
    """
    for path in paths:
        if f".{path.name}." in str(error.filename):  # the name of a temporary folder begins so
            return path
    if error.errno in _ERRORS_OF_WRITING:
        return paths[0]  # any of them: the error does not say which
    return None


def _move(temporary: Path, path: Path) -> None:
    """Renames a finished temporary file to `path`, or writes its content to a special file."""
    if is_special(path):
        with open(temporary, "rb") as content, open_special(path) as target:
            shutil.copyfileobj(content, target)
        return
    temporary.replace(resolve_link(path))
    _flush_to_disk(resolve_link(path).parent)


@contextmanager
def _temporary_path(path: Path) -> Iterator[Path]:
    """
    Yields a path in a new temporary folder, and removes the folder afterwards. Also removes such
    folders for `path` that killed processes have left.
    """
    if is_special(path):
        parent = None  # the system's folder for temporary files
    else:
        parent = resolve_link(path).parent  # on the same disk, so that a rename suffices
        parent.mkdir(parents=True, exist_ok=True)
        # `tempfile` ends the name of a folder with eight characters.
        for leftover in parent.glob(f".{escape(path.name)}.????????"):
            _remove_abandoned(leftover, path.name)
    with _new_locked_folder(parent, prefix=f".{path.name}.") as folder:
        yield folder / path.name


def _remove_abandoned(folder: Path, name: str) -> None:
    """
    Removes a temporary folder of `atomic_write` for the file `name` if nobody holds its lock, as
    after the process that made it was killed.
    """
    # An `OSError` says that the folder is locked or gone.
    with suppress(OSError), _locked_folder(folder, wait=False):
        content = {entry.name for entry in folder.iterdir()}
        # A folder of the user may happen to have such a name, but has other files in it.
        if content <= {name, PARTS}:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """
    Yields a new folder among the system's temporary files, and removes it afterwards. Also removes
    folders with this prefix that killed processes of this user have left.
    """
    for leftover in Path(tempfile.gettempdir()).glob(f"{escape(prefix)}????????"):
        _remove_unlocked(leftover)
    with _new_locked_folder(parent=None, prefix=prefix) as folder:
        yield folder


def _remove_unlocked(folder: Path) -> None:
    """
    Removes a folder of this user that no process has locked. Links, and folders of other users, are
    left alone.
    """
    # An `OSError` says that the folder is locked or gone.
    with suppress(OSError), _locked_folder(folder, wait=False):
        status = folder.lstat()  # of a link itself
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _new_locked_folder(parent: Path | None, prefix: str) -> Iterator[Path]:
    """
    Yields a new temporary folder that this process has locked, and removes it afterwards. `parent`
    is `None` for the system's folder for temporary files.
    """
    while True:
        with tempfile.TemporaryDirectory(dir=parent, prefix=prefix) as name, ExitStack() as stack:
            folder = Path(name)
            try:
                stack.enter_context(_locked_folder(folder, wait=True))
            except FileNotFoundError:
                # Before it was locked, another process took it for a leftover, and removed it.
                continue
            yield folder
            return


@contextmanager
def _locked_folder(folder: Path, wait: bool) -> Iterator[None]:
    """
    Locks a folder while the block runs. The system unlocks it if the process is killed.

    If `wait` is true, waits until no other process holds the lock. If folders cannot be locked
    here, the block runs without a lock. Raises `FileNotFoundError` if the folder is gone by then.

    If `wait` is false, raises `OSError` if another process holds the lock, or if folders cannot be
    locked here: somebody may be using the folder.
    """
    if fcntl is None:
        if not wait:
            raise OSError(errno.ENOLCK, "folders cannot be locked on this system", str(folder))
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if wait:
            # Waiting fails only on a file system without locks.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.stat(folder)  # raises `FileNotFoundError`
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails at once
        yield
    finally:
        os.close(descriptor)


def remove_leftovers(folder: str | Path, pattern: str) -> None:
    """
    Removes the temporary folders that `atomic_write` left in `folder` when a process was killed, if
    the names of the files to be written match `pattern`. Locks are not looked at: the caller knows
    that no process is writing these files.
    """
    for leftover in Path(folder).glob(f".{pattern}.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _flush_to_disk(path: Path) -> None:
    """Makes the system write the content of a file, or the names in a folder, to the disk."""
    if os.name == "nt":  # Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """
    Locks the file `lock`, makes it if necessary, and removes it after the block. Raises
    `filelock.Timeout` if another process holds the lock and keeps it for `_SECONDS_TO_END`.
    """
    from filelock import FileLock  # here, because `elmo --help` would wait for it

    with FileLock(str(lock), timeout=_SECONDS_TO_END):
        try:
            yield
        finally:
            # Windows cannot delete an open file; there `filelock` deletes it.
            if os.name != "nt":
                lock.unlink(missing_ok=True)


def reason(error: OSError) -> str:
    """Returns why a file could not be read or written, in words for the end of a message."""
    if error.errno in _REASONS:
        return _REASONS[error.errno]
    return error.strerror or message_of(error)


def read_bytes(path: Any, name: str) -> bytes:
    """
    Reads a file: a path, or an object for a file in an archive, with a method `read_bytes`. Raises
    `BiLmError`, beginning with `name`, if it cannot be read.
    """
    if isinstance(path, str | os.PathLike):
        path = Path(path)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BiLmError(f"{name}: file not found") from None
    except OSError as error:
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None
    except ValueError as error:  # the path has the character NUL
        raise BiLmError(f"{name}: cannot be read ({error})") from None


def write_json(path: str | Path, content: Any) -> None:
    """Writes an indented JSON file."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def refuse_nul(path: StrPath) -> None:
    """Raises `BiLmError` if a path has the character NUL: no file can have such a name."""
    if "\0" in str(path):
        raise BiLmError(f"the path {str(path)!r} has the character NUL")


def is_special(path: StrPath) -> bool:
    """
    Returns whether a path is a stream, a device or a pipe, to be written to and never replaced.
    """
    if os.fspath(path) in _STREAMS:
        return True
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def open_special(path: StrPath) -> BinaryIO:
    """
    Opens a stream, a device or a pipe for writing. On a stream, the content comes after
    everything that was printed before.
    """
    descriptor = _STREAMS.get(os.fspath(path))
    if descriptor is None:
        return open(path, "wb")
    sys.stdout.flush()  # so that earlier output comes first
    return os.fdopen(os.dup(descriptor), "wb")  # a copy, because the caller closes it


def resolve_link(path: StrPath) -> Path:
    """
    Returns the path that a symlink leads to, even if no file is there. Returns any other path
    unchanged.
    """
    if os.path.islink(path):
        return Path(os.path.realpath(path))
    return Path(path)
