"""What an output may be, and outputs that are not files: devices, pipes, and this process's own streams."""

import errno
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from glob import iglob
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.common.errors import BiLmError

StrPath = str | os.PathLike[str]

STREAMS = (1, 2)  # file descriptors: the standard output and the standard error
SECONDS_FOR_A_READER = 10.0  # that an output waits until something reads its pipe
_OF_A_MODEL = ("config.json", "options.json")  # a folder with one of them is read as a model


class Output(NamedTuple):
    """
    option: that names it, for messages
    path: of the file
    is_json: whether it replaces only JSON
    """

    option: str
    path: StrPath
    is_json: bool = False


def is_special(path: StrPath) -> bool:
    """
    Returns whether a path is there and is neither a regular file nor a folder, but a device, a pipe or a
    socket; or a regular file that is a stream of this process, as `/dev/stdout` can be. What is written goes
    straight into it. It is never replaced.
    """
    found = _stat(path)
    if found is None or stat.S_ISDIR(found.st_mode):
        return False
    return not stat.S_ISREG(found.st_mode) or _own_stream(found) is not None


def target_of(path: StrPath) -> Path:
    """Returns the file that a symlink leads to, which may be missing, or the path itself."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


def write_into(path: StrPath, content: Path) -> None:
    """
    Writes the content of a file into something special. A pipe waits for its reader, but not for ever.

    Raises `OSError`, naming the path, if it cannot be written.
    """
    with open(content, "rb") as source:
        try:
            with os.fdopen(_open(path), "wb") as target:
                shutil.copyfileobj(source, target)
        except OSError as error:
            raise type(error)(error.errno, f"could not write {path}: {error.strerror}") from error


def refuse_folder(path: StrPath) -> None:
    """Raises `BiLmError` if a folder has the name of an output."""
    if Path(path).is_dir():
        raise BiLmError(f"{path} is a directory; name a file to be written")


def check_outputs(outputs: Sequence[Output], inputs: Iterable[StrPath]) -> None:
    """
    Finds outputs that cannot be written, or would destroy something. Files are compared, not their names: a
    link to an input is the input.

    # Parameters

    outputs : `Sequence[Output]`
        The files to be written.
    inputs : `Iterable[StrPath]`
        The files that are read; names of anything else do not count.

    Raises `BiLmError` if an output is a folder, is in none that can be written to, or is an input or another
    output; or if it is to be JSON and replaces something else.
    """
    taken: dict[object, str] = {_identity(path): f"which is an input ({path})" for path in inputs}
    for option, path, is_json in outputs:
        user, *_ = Path(path).parts or ("",)
        if user.startswith("~"):
            raise BiLmError(f"{option}: {path}: there is no user {user[1:]}; write ./{path} for such a name")
        try:
            refuse_folder(path)
        except BiLmError as error:
            raise BiLmError(f"{option}: {error}") from None
        if is_special(path):
            continue
        real = Path(os.path.realpath(path))
        folder = next(parent for parent in real.parents if parent.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise BiLmError(f"{option}: {path} cannot be written, as {folder} is not a folder to write to")
        identity = _identity(path) or real
        if identity in taken:
            raise BiLmError(f"{option} would replace {path}, {taken[identity]}; name another file")
        taken[identity] = f"which {option} writes, too"
        if is_json and real.is_file() and not _may_be_json(real):
            raise BiLmError(f"{option} would replace {path}, which is not JSON; name another file")


def named_files(values: Iterable[Any]) -> Iterator[str]:
    """
    Yields the files that arguments of a command may name: files, those that match a pattern, those of a
    model's folder, and each of `FILE:FILE` or `FILE:VARIANT`.
    """
    for value in values:
        if isinstance(value, list | tuple):
            yield from named_files(value)
        elif isinstance(value, str):
            for text in {value, *value.split(":")} - {""}:
                yield from _files_of(os.path.expanduser(text))


def _files_of(text: str) -> Iterator[str]:
    yield text
    if "\0" in text:
        return
    if any(os.path.isfile(os.path.join(text, name)) for name in _OF_A_MODEL):
        yield from (entry.path for entry in os.scandir(text))
    elif _stat(text) is None:
        yield from iglob(text)


def _identity(path: StrPath) -> tuple[int, int] | None:
    """Returns the device and the inode of a regular file; `-` is the standard input."""
    try:
        found = os.fstat(0) if path == "-" else _stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found is not None and stat.S_ISREG(found.st_mode) else None


def _may_be_json(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(64).lstrip()[:1] in (b"", b"{", b"[")


def _stat(path: StrPath) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _own_stream(found: os.stat_result) -> int | None:
    for stream in STREAMS:
        try:
            if os.path.samestat(found, os.fstat(stream)):
                return stream
        except OSError:  # it is closed
            continue
    return None


def _open(path: StrPath) -> int:
    found = os.stat(path)
    stream = _own_stream(found)
    if stream is not None:  # continues where the stream is
        for each in (sys.stdout, sys.stderr):
            if each is not None:
                each.flush()
        return os.dup(stream)
    # Windows lacks the first two; the third is its own.
    flags = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
    deadline = time.monotonic() + SECONDS_FOR_A_READER
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | flags)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(found.st_mode):
                raise
            if time.monotonic() > deadline:
                raise OSError(errno.ENXIO, "nothing reads this pipe", str(path)) from None
            time.sleep(0.05)
        else:
            if hasattr(os, "O_NONBLOCK"):
                os.set_blocking(descriptor, True)
            return descriptor
