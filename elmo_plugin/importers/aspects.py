"""Three lines for each aspect of a text: the text with `$T$`, the aspect, and its label."""

from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record

_MARK = "$T$"


def is_aspects(text: str) -> bool:
    """Returns whether the first line has the mark of an aspect."""
    return _MARK in text.partition("\n")[0]


def records_of_aspects(file: str, text: str) -> Iterator[Record]:
    """Yields the texts, their aspects and labels. Raises `ConfigurationError` for other lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    for first in range(0, len(lines), 3):
        place = f"line {first + 1}"
        three = lines[first : first + 3]
        if len(three) < 3 or _MARK not in three[0]:
            raise ConfigurationError(
                f"{file}, {place}: expected three lines, the first with $T$ for the second"
            )
        aspect = three[1].strip()
        fields = {
            "text": three[0].strip().replace(_MARK, aspect),
            "aspect": aspect,
            "label": three[2].strip(),
        }
        yield Record(file, place, fields)
