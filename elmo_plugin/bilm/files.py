"""Writing files so that a failure leaves nothing half-written."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replace_when_written(path: str | Path) -> Iterator[Path]:
    """
    Yields a temporary path beside `path`, which takes the place of `path` when the block succeeds
    and is deleted when it fails.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        yield temporary
        os.replace(temporary, path)


def write_json(path: str | Path, content: Any) -> None:
    """Writes a JSON file for people to read, whole or not at all."""
    with replace_when_written(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
