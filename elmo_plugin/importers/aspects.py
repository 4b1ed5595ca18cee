"""Three lines for each aspect of a text: the text with `$T$`, the aspect, and its label."""

from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record

_MARK = "$T$"


def is_aspects(text: str) -> bool:
    """Returns whether the first line has the mark of an aspect."""
    return _MARK in text.partition("\n")[0]


def records_of_aspects(file: str, text: str) -> Iterator[Record]:
    """
    Yields each text with its aspect in place of the mark, the aspect, and its label. Blank lines
    are left out.

    Raises `ConfigurationError`, naming file and line, if the lines are not groups of three that
    begin with a text with the mark.
    """
    line_numbers = []
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            line_numbers.append(number)
            lines.append(line.strip())
    for first in range(0, len(lines), 3):
        group = lines[first : first + 3]
        place = f"line {line_numbers[first]}"
        if len(group) < 3 or _MARK not in group[0]:
            raise ConfigurationError(
                f"{file}, {place}: expected three lines, the first with $T$ for the second"
            )
        text_with_mark, aspect, label = group
        fields = {
            "text": text_with_mark.replace(_MARK, aspect),
            "aspect": aspect,
            "label": label,
        }
        yield Record(file, place, fields)
