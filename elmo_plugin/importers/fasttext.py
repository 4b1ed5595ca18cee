"""fastText's lines: `__label__` with the label, and a text."""

import re
from collections.abc import Iterator

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.labeled_lines import records_of_lines

_LINE = re.compile(r"__label__(?P<label>\S+)\s+(?P<text>(?!__label__)\S.*)")


def is_fasttext(text: str) -> bool:
    """Returns whether a text begins with a label of fastText."""
    return text.lstrip().startswith("__label__")


def records_of_fasttext(file: str, text: str) -> Iterator[Record]:
    """Yields the texts and labels. Raises `ConfigurationError` for a line of another form."""
    return records_of_lines(file, text, _LINE, "__label__ with one label, and a text")
