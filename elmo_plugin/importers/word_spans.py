"""Entities by the numbers of their words, as GLiNER, SpERT and DyGIE++ have them."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.report import Unusable
from elmo_plugin.importers.tagged_sentence import type_without_spaces
from elmo_plugin.tasks.spans import Span, spans_to_tags

_TYPES = ("type", "label", "entity", "tag")


class SpanEnds(Enum):
    """How a file gives the end of an entity. The values are words for a report."""

    LAST_WORD = "the end is its last word"
    NEXT_WORD = "the end is the word behind it"


class WordSpan(NamedTuple):
    """The numbers that a file gives for the first word and the end of an entity, and its type."""

    start: int
    end: int
    kind: str


def spans_of(words: Any, items: Any) -> list[WordSpan] | None:
    """
    Returns the entities of a sentence. Each item is a list such as `[0, 1, "PER"]`, or an object
    with a `start`, an `end` and a `type`. Returns `None` if words or items are anything else.
    """
    if not words or not is_list_of(words, str) or not isinstance(items, list):
        return None
    spans = []
    for item in items:
        span = _span_of(item)
        if span is None:
            return None
        spans.append(span)
    return spans


def _span_of(item: Any) -> WordSpan | None:
    """Returns the entity that a list or an object describes, or `None` if it describes none."""
    if isinstance(item, list) and len(item) == 3:
        start, end, kind = item
    elif isinstance(item, dict):
        start = item.get("start")
        end = item.get("end")
        kind = _type_of(item)
    else:
        return None
    if type(start) is not int or type(end) is not int or not isinstance(kind, str):
        return None
    return WordSpan(start, end, type_without_spaces(kind))


def _type_of(item: dict[str, Any]) -> Any:
    """Returns the type of the entity that an object describes, or `None` if it lacks one."""
    for name in _TYPES:
        if item.get(name):
            return item[name]
    return None


def find_ends(sentences: Iterable[tuple[Sequence[str], Any]]) -> SpanEnds:
    """
    Returns how some sentences give the ends of entities: as the last words, or as the words after
    the last. Each sentence is its words and the items that `spans_of` reads.

    The first entity that shows it decides. If none does, lists such as GLiNER's have the last word
    as the end, and objects such as SpERT's have the word after it.
    """
    has_lists = False
    for words, items in sentences:
        for span in spans_of(words, items) or []:
            if span.start == span.end:
                return SpanEnds.LAST_WORD  # or the entity would be empty
            if span.end == len(words):
                return SpanEnds.NEXT_WORD  # words are counted from 0, so this is after the last
        has_lists = has_lists or any(isinstance(item, list) for item in items)
    if has_lists:
        return SpanEnds.LAST_WORD
    return SpanEnds.NEXT_WORD


def tags_of_spans(words: Sequence[str], spans: Sequence[WordSpan], ends: SpanEnds) -> list[str]:
    """
    Returns the tags of words in BIO. Raises `Unusable` if an entity is not in the sentence, or
    overlaps with another.
    """
    found: list[Span] = []
    for span in sorted(set(spans)):
        end = span.end
        if ends is SpanEnds.LAST_WORD:
            end += 1
        if not 0 <= span.start < end <= len(words):
            raise Unusable(
                "with entities that are not in the sentence",
                f"got words {span.start} to {span.end} of {len(words)}, from 0",
            )
        if found and span.start < found[-1].end:
            raise Unusable(
                "with entities that overlap", f"{span.kind} at words {span.start} to {span.end}"
            )
        found.append(Span(span.start, end, span.kind))
    return spans_to_tags(found, len(words), "BIO")
