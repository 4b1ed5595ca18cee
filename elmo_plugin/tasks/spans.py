"""Spans of words with a label, and the tags of words that stand for them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.tasks.dataset_reader import Line


class _Letters(NamedTuple):
    """The letters of an encoding for the first, an inner, the last and the only word of a span."""

    first: str
    inner: str
    last: str
    only: str

    def of_span(self, length: int) -> list[str]:
        """Returns a letter for each word of a span of `length` words."""
        if length == 1:
            return [self.only]
        return [self.first] + [self.inner] * (length - 2) + [self.last]


ENCODINGS = {
    "BIO": _Letters("B", "I", "I", "B"),
    "IOB1": _Letters("B", "I", "I", "B"),
    "BIOUL": _Letters("B", "I", "L", "U"),
    "BIOES": _Letters("B", "I", "E", "S"),
    "BMES": _Letters("B", "M", "E", "S"),
}
"""The encodings of tags, with their letters."""
_TO_BIOUL = {"S": "U", "E": "L", "M": "I"}  # from letters of other encodings
_ALL_LETTERS = "BIESULM"  # of all encodings
# The letter of an encoding, before or after the label of its span.
_TAG = re.compile(
    rf"(?P<letter>[{_ALL_LETTERS}])(?:[-_](?P<label>\S+))?"
    rf"|(?P<label_before>\S+)[-_](?P<letter_after>[{_ALL_LETTERS}])",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """The words from `start` to before `end`, and their label: a type, a role, or none."""

    start: int
    end: int
    label: str = ""


class EntityTag(NamedTuple):
    """A tag: its letter in the encoding of the file, and the kind of its span, "" without one."""

    letter: str
    kind: str

    @property
    def bioul(self) -> str:
        """Its letter in BIOUL."""
        return _TO_BIOUL.get(self.letter, self.letter)


OUTSIDE = EntityTag("O", "")


class LabelError(BiLmError):
    """
    A label, a tag or a span that cannot be where it is: at the word with the index `word_index` in
    its sentence or document.
    """

    def __init__(self, word_index: int, message: str) -> None:
        super().__init__(message)
        self.word_index = word_index


@contextmanager
def locate_label_errors(lines: Sequence[Line], prefix: str = "") -> Iterator[None]:
    """
    Turns a `LabelError` into a `ConfigurationError` that begins with file and line, and a `prefix`
    such as "column 3: ". `lines` has a line for each word of the sentence or document.
    """
    try:
        yield
    except LabelError as error:
        raise ConfigurationError(f"{lines[error.word_index].location}: {prefix}{error}") from None


def parse_tag(value: str) -> EntityTag | None:
    """
    Parses a tag such as "O", "B-PER", "b_per", "PER-B" or "B". Returns `None` if the value is not a
    tag.
    """
    if value in ("O", "o"):
        return OUTSIDE
    match = _TAG.fullmatch(value)
    if match is None:
        return None
    if len(value) == 1 and value.islower():
        return None  # A small letter alone, such as "i", is more likely a word than a tag.
    if match["letter"]:
        letter = match["letter"].upper()
        label = match["label"] or ""
    else:
        letter = match["letter_after"].upper()
        label = match["label_before"]
    return EntityTag(letter, label)


def tags_to_spans(tags: Iterable[EntityTag | str]) -> list[Span]:
    """
    Returns the spans of a sentence, from left to right. All encodings are read alike: an inner or
    last tag continues the span before it if both have the same label; every other tag but `O`
    starts a new span. A string that is not a tag counts as `O`.
    """
    spans: list[Span] = []
    is_open = False  # whether the next tag may continue the last span
    for index, item in enumerate(tags):
        tag = _as_entity_tag(item)
        if is_open and tag.bioul in ("I", "L") and spans[-1].label == tag.kind:
            spans[-1] = spans[-1]._replace(end=index + 1)
        elif tag.bioul != "O":
            spans.append(Span(start=index, end=index + 1, label=tag.kind))
        is_open = tag.bioul in ("B", "I")
    return spans


def _as_entity_tag(tag: EntityTag | str) -> EntityTag:
    """Parses a tag if it is a string. A string that is not a tag becomes `OUTSIDE`."""
    if isinstance(tag, EntityTag):
        return tag
    parsed = parse_tag(tag)
    if parsed is None:
        return OUTSIDE
    return parsed


def spans_to_tags(spans: Iterable[Span], length: int, encoding: str = "BIO") -> list[str]:
    """
    Returns the tags of a sentence of `length` words, in any encoding. In "IO", the tag of a word is
    the label of its span, without a letter. `tags_to_spans` is the inverse, except for "IO". Raises
    `LabelError` if spans overlap or are not inside the sentence.
    """
    tags = ["O"] * length
    before: Span | None = None
    for span in checked_spans(spans, length):
        words = slice(span.start, span.end)
        if encoding == "IO":
            tags[words] = [span.label] * (span.end - span.start)
        else:
            tags[words] = _tags_of_span(span, before, encoding)
        before = span
    return tags


def _tags_of_span(span: Span, before: Span | None, encoding: str) -> list[str]:
    """Returns the tags of the words of a span. `before` is the previous span of the sentence."""
    # Archives of early versions may name another encoding, "mixed". Their tags become BIO.
    letters_of_encoding = ENCODINGS.get(encoding, ENCODINGS["BIO"])
    letters = letters_of_encoding.of_span(span.end - span.start)
    if encoding == "IOB1" and not _follows(span, before):
        letters[0] = "I"  # B is only for a span right behind another with the same label
    if not span.label:
        return letters
    return [f"{letter}-{span.label}" for letter in letters]


def _follows(span: Span, before: Span | None) -> bool:
    """Returns whether a span begins right behind the one before it, and has its label."""
    return before is not None and before.end == span.start and before.label == span.label


def describe_spans(
    spans: Iterable[Span], words: Sequence[str], label_key: str
) -> list[dict[str, Any]]:
    """Returns the spans with their texts, for JSON. Labels are under a key such as "type"."""
    return [
        {
            label_key: span.label,
            "start_word": span.start,
            "end_word": span.end,
            "text": " ".join(words[span.start : span.end]),
        }
        for span in spans
    ]


def checked_spans(spans: Iterable[Span], length: int) -> list[Span]:
    """
    Returns the spans from left to right. Raises `LabelError` if two of them overlap, or if one is
    not inside a sentence of `length` words.
    """
    ordered = sorted(spans)
    end_before = 0
    for start, end, label in ordered:
        if not 0 <= start < end <= length:
            raise LabelError(
                start, f"{label} is not in a sentence of {length} words: {start} to {end}"
            )
        if start < end_before:
            # Only arguments of predicates can overlap here: readers check all other spans.
            raise LabelError(start, f"{label} begins inside another argument")
        end_before = end
    return ordered
