"""Writing files so that a failure leaves nothing half-written."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elmo_plugin.common.errors import BiLmError


@contextmanager
def replace_when_written(path: str | os.PathLike[str]) -> Iterator[Path]:
    """
    Yields a temporary path next to `path`, which takes the place of `path` when the block succeeds
    and is deleted when it fails. What takes the place is on the disk by then, so that not even a power
    failure leaves half of it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        yield temporary
        _flush_to_disk(temporary)
        os.replace(temporary, path)
        _flush_to_disk(path.parent)


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: str | Path, pattern: str) -> None:
    """Removes what a killed process left of new files whose name matches `pattern`."""
    for leftover in Path(folder).glob(f".{pattern}.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def read_json(path: str | Path, name: str) -> Any:
    """Reads a JSON file. Raises `BiLmError`, which calls the file `name`, where it is missing or damaged."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BiLmError(f"{name}: there is no such file") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BiLmError(f"{name}: not a JSON file ({error})") from None


def write_json(path: str | Path, content: Any) -> None:
    """Writes a JSON file for people to read, whole or not at all."""
    with replace_when_written(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
