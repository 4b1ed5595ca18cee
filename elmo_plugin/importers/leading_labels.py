"""A label and a text in each line, with a space between them: TREC's questions, `1 a fine film`."""

import re
from collections.abc import Iterator, Sequence

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.labeled_lines import records_of_lines

_LABEL = r"\d|[A-Za-z]+:[A-Za-z]+"
_LINE = re.compile(rf"(?P<label>{_LABEL}) +(?P<text>[^\t]*\S[^\t]*)")
_FIRST_LINES = 50
_SEPARATORS = (",", ";", "|")


def has_leading_labels(text: str) -> bool:
    """
    Returns whether each of the first lines begins with a label: a digit, or a kind such as
    `LOC:city`. At least two labels must be equal, because the lines of a numbered list begin with
    digits too. Returns `False` for the rows of a table, such as `5 stars;good`.
    """
    lines = _filled(text.split("\n", _FIRST_LINES)[:_FIRST_LINES])
    if _have_columns(lines):
        return False
    labels = []
    for line in lines:
        match = _LINE.fullmatch(line.strip())
        if match is None:
            return False
        labels.append(match["label"])
    are_repeated = len(set(labels)) < len(labels)
    return are_repeated


def records_of_leading_labels(file: str, text: str) -> Iterator[Record]:
    """Yields the texts and labels. Raises `ConfigurationError` for a line of another form."""
    return records_of_lines(file, text, _LINE, "a label and a text after it, as in other lines")


def _have_columns(lines: Sequence[str]) -> bool:
    """Returns whether all lines have the same number of a separator, as the rows of a table do."""
    for separator in _SEPARATORS:
        counts = {line.count(separator) for line in lines}
        if len(counts) == 1 and 0 not in counts:
            return True
    return False


def _filled(lines: Sequence[str]) -> list[str]:
    """Returns the lines that are not blank."""
    return [line for line in lines if line.strip()]
