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
def unfinished_folder(output: Path, parts: str) -> Iterator[Path]:
    """
    Yields the folder of the parts of an output, locked for this process. The names of the parts
    match the pattern `parts`. When the block succeeds, the folder is removed; when it fails, the
    folder is kept for the next run if there is a part in it.

    Raises `BiLmError` if something else is in the place of the folder or in it, or another process
    writes the output.
    """
    from filelock import Timeout  # here, because `elmo --help` would wait for it

    folder = unfinished_path(output)
    is_other_file = folder.exists() and not folder.is_dir()
    # `rmtree` does not remove a link, and the folder behind it is somebody else's.
    if is_other_file or folder.is_symlink():
        raise BiLmError(f"{folder} is no folder: remove it, or name another output")
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder.with_name(f".{folder.name}.lock")):
            folder.mkdir(exist_ok=True)
            remove_leftovers(folder, "*")  # of any file, because nobody else holds the lock
            # The complete output has its own name in the folder before it is moved to its place.
            _check_content(folder, (parts, DESCRIPTION, escape(output.name)))
            is_done = False
            try:
                yield folder
                is_done = True
            finally:
                if is_done or not any(folder.glob(parts)):
                    rmtree(folder)
    except Timeout:
        raise BiLmError(f"another process is writing {output}") from None


def _check_content(folder: Path, patterns: tuple[str, ...]) -> None:
    """Raises `BiLmError` if the name of a file matches none of the patterns."""
    for path in sorted(folder.iterdir()):
        if not any(fnmatch(path.name, pattern) for pattern in patterns):
            raise BiLmError(
                f"{folder} has a file of something else, {path.name}: remove the folder, or name "
                "another output"
            )
