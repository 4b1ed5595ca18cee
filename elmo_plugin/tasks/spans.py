"""Spans of words with a label, and the tags of words that stand for them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.tasks.dataset_reader import Line

# The letters of the first, inner, last and only word of a span; for all other encodings B, I, I, B.
_LETTERS = {"BIOUL": (*"BILU",), "BIOES": (*"BIES",), "BMES": (*"BMES",)}
_BIOUL = {"S": "U", "E": "L", "M": "I"}
_TAG = re.compile(r"([BIESULM])(?:[-_](\S+))?|(\S+)[-_]([BIESULM])", re.IGNORECASE)


class Span(NamedTuple):
    """The words from `start` to before `end`, and their label: a type, a role, or none."""

    start: int
    end: int
    label: str = ""


class EntityTag(NamedTuple):
    """
    A tag: its letter as written, the same in BIOUL, and the label of its span, "" if it has none.
    """

    letter: str
    bioul: str
    kind: str


OUTSIDE = EntityTag("O", "O", "")


class LabelError(BiLmError):
    """
    A label, a tag or a span that cannot be at its place: the word `row` of a sentence or document.
    """

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


@contextmanager
def locate_label_errors(lines: Sequence[Line], column: str = "") -> Iterator[None]:
    """Turns a `LabelError` into a `ConfigurationError` that begins with file, line and `column`."""
    try:
        yield
    except LabelError as error:
        raise ConfigurationError(f"{lines[error.row].location}: {column}{error}") from None


def parse_tag(value: str) -> EntityTag | None:
    """Returns the meaning of a tag such as "O", "B-PER", "b_per", "PER-B" or "B", or `None`."""
    if value in ("O", "o"):
        return OUTSIDE
    match = _TAG.fullmatch(value)
    if match is None or value in "biesulm":
        return None
    letter, kind, kind_first, last_letter = match.groups()
    letter = (letter or last_letter).upper()
    return EntityTag(letter, _BIOUL.get(letter, letter), kind or kind_first or "")


def tags_to_spans(tags: Iterable[EntityTag | str]) -> list[Span]:
    """
    Returns the spans of a sentence, from left to right. All encodings are read alike: a span goes
    on at each inner or last tag of its label; every other tag but `O` starts a new one.
    """
    spans: list[Span] = []
    is_open = False
    for word, item in enumerate(tags):
        tag = item if isinstance(item, EntityTag) else parse_tag(item) or OUTSIDE
        if is_open and tag.bioul in ("I", "L") and spans[-1].label == tag.kind:
            spans[-1] = spans[-1]._replace(end=word + 1)
        elif tag.bioul != "O":
            spans.append(Span(word, word + 1, tag.kind))
        is_open = tag.bioul in ("B", "I")
    return spans


def spans_to_tags(spans: Iterable[Span], length: int, encoding: str = "BIO") -> list[str]:
    """
    Returns the tags of a sentence of `length` words, in any encoding, or only labels for "IO".
    Inverts `tags_to_spans`. Raises `LabelError` as `checked_spans` does.
    """
    begin, inner, last, single = _LETTERS.get(encoding, ("B", "I", "I", "B"))
    tags = ["O"] * length
    for start, end, label in checked_spans(spans, length):
        letters = [begin, *inner * (end - start - 2), last] if end > start + 1 else [single]
        if encoding == "IOB1" and not (
            start and tags[start - 1] != "O" and tags[start - 1][2:] == label
        ):
            letters[0] = "I"
        tags[start:end] = [letter + (label and f"-{label}") for letter in letters]
        if encoding == "IO":
            tags[start:end] = [label] * (end - start)
    return tags


def describe_spans(spans: Iterable[Span], words: Sequence[str], name: str) -> list[dict[str, Any]]:
    """Returns each span as JSON has it, with its text, and its label by a name such as "type"."""
    return [
        {name: label, "start": start, "end": end, "text": " ".join(words[start:end])}
        for start, end, label in spans
    ]


def checked_spans(spans: Iterable[Span], length: int) -> list[Span]:
    """
    Returns spans in order. Raises `LabelError` if they overlap or leave a sentence of `length`
    words.
    """
    ordered, free = sorted(spans), 0
    for start, end, label in ordered:
        if not 0 <= start < end <= length:
            raise LabelError(
                start, f"{label} is not in a sentence of {length} words: {start} to {end}"
            )
        if start < free:
            raise LabelError(start, f"{label} begins inside another argument")
        free = end
    return ordered
