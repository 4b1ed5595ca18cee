"""The output of a command: a file that is no input, or a special file such as a device."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from glob import iglob
from pathlib import Path
from typing import Any, BinaryIO

from elmo_plugin.common.errors import BiLmError

StrPath = str | os.PathLike[str]

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}  # their file descriptors
_MODEL_FILES = ("config.json", "options.json")  # a folder with one of them is read as a model


def check_outputs(outputs: Iterable[StrPath], inputs: Iterable[Any]) -> None:
    """
    Raises `BiLmError` if an output is a folder, cannot be written, or is another output or a file that
    `inputs`, the other arguments of a command, name, also by a link.
    """
    taken: dict[object, str] = {_identity(path): f"an input ({path})" for path in _named_files(inputs)}
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
    """Yields the files that arguments may name: FILE, FILE:VARIANT, a pattern, the folder of a model."""
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
    """Returns whether a path is a stream, a device or a pipe, to be written to and never replaced."""
    return os.fspath(path) in _STREAMS or (
        os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    )


def open_special(path: StrPath) -> BinaryIO:
    """Opens something special for writing; a stream continues after earlier output."""
    stream = _STREAMS.get(os.fspath(path))
    if stream is None:
        return open(path, "wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(stream), "wb")


def target_of(path: StrPath) -> Path:
    """Returns the file (maybe missing) that a symlink leads to, or the path itself."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


def _identity(path: StrPath) -> tuple[int, int] | None:
    """Returns the device and the inode of a regular file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
