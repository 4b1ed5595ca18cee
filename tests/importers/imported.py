"""A file that is imported, as `elmo import` does it."""

from pathlib import Path
from typing import Any

from elmo_plugin.importers.import_data import read_data, write_data
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.registry import IMPORTERS


def import_file(task: str, file: Path, **options: Any) -> tuple[Path, list[str]]:
    """Returns the training file that is written, and what is printed."""
    importer = IMPORTERS[task]
    data = read_data(importer, {"train": file}, ImportOptions(**options))
    folder = file.parent / f"{file.name} imported"
    return write_data(importer, data.parts, folder)["train"], data.lines
