"""The lines of a file as the readers of CoNLL-2012 take them."""

from collections.abc import Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_lines
from elmo_plugin.tasks.dataset_reader import Line


def numbered_lines(file: str, options: ImportOptions, report: Report) -> list[Line]:
    """
    Returns the lines of a file with their numbers. Byte order marks are removed everywhere: if
    files were joined, they also stand within the text.
    """
    texts = read_lines(file, options, report)
    return [
        Line(text.replace(BYTE_ORDER_MARK, ""), file, number)
        for number, text in enumerate(texts, start=1)
    ]


def first_text(lines: Sequence[Line]) -> str:
    """Returns the text of the first line that is not blank, or an empty text."""
    for line in lines:
        if line.text.strip():
            return line.text.strip()
    return ""


def files_in(path: str, patterns: Sequence[str]) -> list[str]:
    """
    Returns the files below a folder, or only `path` if it is a file itself. All of them, compressed
    or not, have names of one pattern: the first of `patterns` that any name matches. Raises
    `ConfigurationError` if no name matches.
    """
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    for pattern in patterns:
        found: set[Path] = set()
        for compression in ("", ".gz", ".zst"):
            found.update(folder.rglob(pattern + compression))
        if found:
            return [str(file) for file in sorted(found)]
    raise ConfigurationError(f"{path}: no {' or '.join(patterns)} in this folder")
