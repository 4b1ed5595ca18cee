"""fastText's lines: `__label__` with the label, and a text."""

import re
from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record

_LINE = re.compile(r"__label__(?P<label>\S+)\s+(?P<text>(?!__label__)\S.*)")


def is_fasttext(text: str) -> bool:
    """Returns whether a text begins with a label of fastText."""
    return text.lstrip().startswith("__label__")


def records_of_fasttext(file: str, text: str) -> Iterator[Record]:
    """Yields the texts and labels. Raises `ConfigurationError` for a line of another form."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ConfigurationError(
                f"{file}, line {number}: expected __label__ with one label, and a text"
            )
        yield Record(file, f"line {number}", match.groupdict())
