"""The folder of the finished parts of an output, from which a stopped command resumes."""

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from glob import escape
from pathlib import Path
from shutil import rmtree

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import StrPath, locked, remove_leftovers, resolve_link

DESCRIPTION = "description.json"
"""The file in the folder that says how its parts were made."""


def unfinished_path(output: StrPath) -> Path:
    """Returns the folder of the parts of an output, which may be a link to the file to write."""
    return Path(f"{resolve_link(output)}.unfinished")


@contextmanager
def unfinished_folder(output: Path, parts_pattern: str) -> Iterator[Path]:
    """
    Yields the folder of the finished parts of an output, locked for this process. The names of the
    parts match `parts_pattern`. When the block succeeds, the folder is removed. When it fails, the
    folder is kept for the next run, unless it has no part yet.

    Raises `BiLmError` if there is a file in the place of the folder or an unknown file in it, or if
    another process writes the output.
    """
    from filelock import Timeout  # imported here, because `elmo --help` would wait for it

    folder = unfinished_path(output)
    _check_is_folder_or_missing(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder.with_name(f".{folder.name}.lock")):
            folder.mkdir(exist_ok=True)
            remove_leftovers(folder, "*")  # of any file, because nobody else holds the lock
            # The complete output is made in the folder under its own name, and then moved.
            complete_output = escape(output.name)
            _check_content(folder, (parts_pattern, DESCRIPTION, complete_output))
            is_done = False
            try:
                yield folder
                is_done = True
            finally:
                has_parts = any(folder.glob(parts_pattern))
                if is_done or not has_parts:
                    rmtree(folder)
    except Timeout:
        raise BiLmError(f"another process is writing {output}") from None


def _check_is_folder_or_missing(folder: Path) -> None:
    """
    Raises `BiLmError` if something else is in the place of the folder. That may be a link to a
    folder: `rmtree` does not remove links, and the folder behind it is somebody else's.
    """
    is_other_file = folder.exists() and not folder.is_dir()
    if is_other_file or folder.is_symlink():
        raise BiLmError(f"{folder} is no folder: remove it, or name another output")


def _check_content(folder: Path, patterns: tuple[str, ...]) -> None:
    """Raises `BiLmError` if the name of a file matches none of the patterns."""
    for path in sorted(folder.iterdir()):
        if not any(fnmatch(path.name, pattern) for pattern in patterns):
            raise BiLmError(
                f"{folder} has a file of something else, {path.name}: remove the folder, or name "
                "another output"
            )
