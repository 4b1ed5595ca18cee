"""Texts in a folder for each label, or in a file for each label with a text in each line."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.parts import have_one_stem, part_in_name
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.parallel_labels import labels_beside, records_of_two_files
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_lines, read_text

_WITHOUT_LABEL = ("unsup", "unlabeled", "unlabelled")  # the first in the IMDB reviews
_NO_TEXTS = ("thumbs.db", "desktop.ini", "readme", "readme.txt", "readme.md", "license")


def records_of_folder(folder: str, options: ImportOptions, report: Report) -> Iterator[Record]:
    """
    Yields the texts below a folder, and their labels. The labels are the names of the inner
    folders, as in the IMDB reviews, or the names of the files. It is also possible that one file
    has the texts and another one their labels.

    Raises `ConfigurationError` if the folder has none of these.
    """
    entries = _usable_entries(Path(folder).iterdir())
    for path in entries:
        labels_file = labels_beside(str(path))
        # Files of parts, such as train_text.txt, are read only if the command names them.
        if labels_file is not None and part_in_name(path.name) is None:
            yield from records_of_two_files(str(path), labels_file, options, report)
            return
    folders = [path for path in entries if path.is_dir()]
    if folders:
        report.took("a folder for each label, a text in each file")
        for label_folder in folders:
            if label_folder.name.lower() in _WITHOUT_LABEL:
                report.took(f"not the folder {label_folder.name!r}, whose texts have no label")
            else:
                yield from _records_of_label(Path(folder), label_folder, options, report)
    else:
        yield from _records_of_files(folder, entries, options, report)


def _records_of_files(
    folder: str, entries: Sequence[Path], options: ImportOptions, report: Report
) -> Iterator[Record]:
    """
    Yields a record for each line of the files of a folder. Raises `ConfigurationError` if the files
    are not named after labels.
    """
    files = _files_by_label(entries)
    if not files:
        raise ConfigurationError(
            f"{folder}: expected a folder, or a file .txt, for each label, or files called train…"
        )
    report.took("a file for each label, a text in each line")
    for label_name, file in files.items():
        for number, line in enumerate(read_lines(str(file), options, report), start=1):
            if line.strip():
                fields = {"text": line.strip(), "label": label_name}
                yield Record(folder, f"{file.name}, line {number}", fields)


def _usable_entries(paths: Iterable[Path]) -> list[Path]:
    """
    Returns the files and folders that may have texts, sorted. Hidden ones and, for example, a
    README are left out.
    """
    usable = []
    for path in sorted(paths):
        is_hidden = path.name.startswith((".", "_"))
        if not is_hidden and path.name.lower() not in _NO_TEXTS:
            usable.append(path)
    return usable


def _records_of_label(
    folder: Path, label_folder: Path, options: ImportOptions, report: Report
) -> Iterator[Record]:
    """Yields a record for each file below the folder of a label. Places count from `folder`."""
    for file in _usable_entries(label_folder.rglob("*")):
        if file.is_file():
            text = " ".join(read_text(str(file), options, report).split())
            place = str(file.relative_to(folder))
            yield Record(str(folder), place, {"text": text, "label": label_folder.name})


def _files_by_label(files: Sequence[Path]) -> dict[str, Path]:
    """
    Returns the files by their labels. A label is the name of a file such as `late.txt`, or its
    suffix, as in `reviews.pos` and `reviews.neg`. Raises `ConfigurationError` for names such as
    `train_a.txt`. Returns nothing if other names have no labels.
    """
    texts = [file for file in files if file.suffix == ".txt"]
    parts = [file for file in texts if part_in_name(file.name) is not None]
    if parts:
        raise ConfigurationError(
            f"{parts[0]}: expected a file for each label, and this name is of a part of the data; "
            "name the files to read: TRAIN DEV TEST"
        )
    if texts:
        return {file.stem: file for file in texts}
    if len(files) > 1 and have_one_stem(files):
        return {file.suffix.removeprefix("."): file for file in files}
    return {}
