"""Texts in a folder for each label, or in a file for each label with a text in each line."""

from collections.abc import Iterator
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_text


def records_of_folder(folder: str, options: ImportOptions, report: Report) -> Iterator[Record]:
    """
    Yields the texts below a folder, and their labels: the names of its folders, as the
    IMDB reviews have them, or of its files.

    Raises `ConfigurationError` if there are neither.
    """
    entries = sorted(Path(folder).iterdir())
    folders = [path for path in entries if path.is_dir() and not path.name.startswith((".", "_"))]
    if folders:
        report.took("a folder for each label, a text in each file")
        for label in folders:
            for file in sorted(path for path in label.rglob("*") if path.is_file()):
                text = " ".join(read_text(str(file), options, report).split())
                place = str(file.relative_to(folder))
                yield Record(folder, place, {"text": text, "label": label.name})
        return
    files = [path for path in entries if path.suffix == ".txt"]
    if not files:
        raise ConfigurationError(
            f"{folder}: expected a folder, or a file .txt, for each label, or files called train…"
        )
    report.took("a file for each label, a text in each line")
    for file in files:
        for number, line in enumerate(read_text(str(file), options, report).split("\n"), 1):
            if line.strip():
                place = f"{file.name}, line {number}"
                yield Record(folder, place, {"text": line.strip(), "label": file.stem})
