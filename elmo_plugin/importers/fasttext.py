"""fastText's lines: `__label__` with the label, and a text."""

import re
from collections.abc import Iterator

from elmo_plugin.importers.field_finder import LABEL
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.labeled_lines import records_of_lines

_MARK = "__label__"
_LINE = re.compile(rf"(?P<label>(?:{_MARK}\S+\s+)+)(?P<text>(?!{_MARK})\S.*)")


def is_fasttext(text: str) -> bool:
    """Returns whether a text begins with a label of fastText."""
    return text.lstrip().startswith(_MARK)


def records_of_fasttext(file: str, text: str) -> Iterator[Record]:
    """
    Yields a record for each line, with its text and the list of its labels. Raises
    `ConfigurationError`, naming file and line, for a line of another form.
    """
    for record in records_of_lines(file, text, _LINE, f"{_MARK} with a label, and a text"):
        labels = [label.removeprefix(_MARK) for label in record.fields[LABEL].split()]
        yield record._replace(fields=record.fields | {LABEL: labels})
