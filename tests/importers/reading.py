"""Reads a file by the importer of a task."""

from pathlib import Path
from typing import Any

from elmo_plugin.importers import IMPORTERS, ImportOptions
from elmo_plugin.importers.report import Report


def read(
    task: str, path: Path, content: str | bytes | None = None, **options: Any
) -> tuple[list[Any], Report]:
    """Writes the content to a file, and returns its examples and the report about it."""
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    report = Report(str(path))
    examples = list(IMPORTERS[task].read(str(path), ImportOptions(**options), report))
    return examples, report


def read_tags(
    path: Path, content: str | bytes | None = None, task: str = "ner", **options: Any
) -> list[tuple[list[str], list[str]]]:
    """Returns the words and the tags of each sentence of a file."""
    examples, _ = read(task, path, content, **options)
    return [(list(example.words), list(example.tags)) for example in examples]
