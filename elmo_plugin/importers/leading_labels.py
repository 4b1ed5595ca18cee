"""A label and a text in each line, with a space between them: TREC's questions, `1 a fine film`."""

import re
from collections.abc import Iterator, Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record

_LABEL = r"\d|[A-Za-z]+:[A-Za-z]+"
_LINE = re.compile(rf"(?P<label>{_LABEL}) +(?P<text>[^\t]*\S[^\t]*)")
_FIRST_LINES = 50


def has_leading_labels(text: str) -> bool:
    """
    Returns whether each of the first lines begins with a digit, or with a kind such as `LOC:city`,
    and some begin alike, as the lines of a numbered list do not.
    """
    labels = []
    for line in _filled(text.split("\n", _FIRST_LINES)[:_FIRST_LINES]):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            return False
        labels.append(match["label"])
    return len(set(labels)) < len(labels)


def records_of_leading_labels(file: str, text: str) -> Iterator[Record]:
    """Yields the texts and labels. Raises `ConfigurationError` for a line of another form."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ConfigurationError(
                f"{file}, line {number}: expected a label and a text after it, as in other lines, "
                f"got {line.strip()!r:.60}"
            )
        yield Record(file, f"line {number}", match.groupdict())


def _filled(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip()]
