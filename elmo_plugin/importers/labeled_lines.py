"""The lines of a file that have a label and a text, whichever way they are written."""

import re
from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record


def records_of_lines(
    file: str, text: str, line_form: re.Pattern[str], expected: str
) -> Iterator[Record]:
    """
    Yields the named groups of `line_form` in each line that is not blank. Raises
    `ConfigurationError`, with `expected` in its message, for a line of another form.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.strip()
        if not content:
            continue
        match = line_form.fullmatch(content)
        if match is None:
            raise ConfigurationError(
                f"{file}, line {number}: expected {expected}, got {content!r:.60}"
            )
        yield Record(file, f"line {number}", match.groupdict())
