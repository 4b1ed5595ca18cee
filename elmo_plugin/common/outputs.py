"""Checks, before a command works, that its outputs can be written, and none over an input."""

import os
import stat
from collections.abc import Iterable, Iterator
from glob import iglob
from pathlib import Path
from typing import Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import StrPath, is_special, refuse_nul

_MODEL_FILES = ("config.json", "options.json")  # a folder with one of them has a model


def check_outputs(outputs: Iterable[StrPath], inputs: Iterable[Any]) -> None:
    """
    Raises `BiLmError` if an output is a folder, cannot be written, or is the same file as another
    output or an input, perhaps by a link. `inputs` are the values of all other arguments of a
    command, of any type: those that do not name a file are ignored.
    """
    # What each file is that no output may replace. The key is the device and the inode of a file
    # that exists, and the path of an output that does not exist yet.
    taken: dict[tuple[int, int] | Path, str] = {}
    for named_path in _named_paths(inputs):
        inode = device_and_inode(named_path)
        if inode is not None:
            taken[inode] = f"an input ({named_path})"
    for path in outputs:
        refuse_nul(path)
        refuse_folder(path)
        if is_special(path):
            continue  # it is written to, and never replaced
        real = Path(os.path.realpath(path))
        folder = _nearest_folder(real)
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise BiLmError(f"cannot write {path}: {folder} is not a writable folder")
        inode = device_and_inode(path)
        if inode is None:
            key: tuple[int, int] | Path = real
        else:
            key = inode
        if key in taken:
            raise BiLmError(f"the output {path} is also {taken[key]}")
        taken[key] = "another output"


def refuse_folder(path: StrPath) -> None:
    """Raises `BiLmError` if an output is a folder."""
    if os.path.isdir(path):
        raise BiLmError(f"{path} is a directory; name a file to be written")


def _nearest_folder(path: Path) -> Path:
    """
    Returns the nearest parent of an output's path that exists. The missing folders of the output
    will be made in that folder.
    """
    for folder in path.parents:
        if folder.exists():
            return folder
    return path.parent  # no parent exists: the path is on a drive of Windows that is not there


def _named_paths(arguments: Iterable[Any]) -> Iterator[str]:
    """
    Yields the paths that arguments may name, as FILE or as FILE:VARIANT. Most arguments name no
    file, so many of the paths do not exist.
    """
    for value in arguments:
        if isinstance(value, list | tuple):
            yield from _named_paths(value)
        elif isinstance(value, str):
            # The whole text may be a path with colons, or any part between colons may be one.
            # Each only once, because a pattern may match many files.
            for candidate in dict.fromkeys([value, *value.split(":")]):
                if candidate:
                    yield from _paths_of(os.path.expanduser(candidate))


def _paths_of(path: str) -> Iterator[str]:
    """
    Yields a path, the paths that it matches if it is a pattern, and its files if it is the folder
    of a model.
    """
    yield path
    yield from iglob(path)
    if any(os.path.isfile(os.path.join(path, name)) for name in _MODEL_FILES):
        for entry in os.scandir(path):
            yield entry.path


def device_and_inode(path: StrPath) -> tuple[int, int] | None:
    """
    Returns the device and the inode of a regular file: all links to it share them. Returns `None`
    for everything else: a missing file, a folder, a device, or a text that cannot be a path.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_dev, status.st_ino
