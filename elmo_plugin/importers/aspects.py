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
    Yields each text with its aspect in place of the mark, the aspect, and its label. Raises
    `ConfigurationError`, naming file and line, for other lines.
    """
    filled = []  # the number of each line that is not blank, and the line
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            filled.append((number, line.strip()))
    for first in range(0, len(filled), 3):
        number, text_with_mark = filled[first]
        place = f"line {number}"
        if len(filled) < first + 3 or _MARK not in text_with_mark:
            raise ConfigurationError(
                f"{file}, {place}: expected three lines, the first with $T$ for the second"
            )
        _, aspect = filled[first + 1]
        _, label = filled[first + 2]
        fields = {
            "text": text_with_mark.replace(_MARK, aspect),
            "aspect": aspect,
            "label": label,
        }
        yield Record(file, place, fields)
