"""Entities that are given by their characters in a text, as tools for annotation store them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.typography import Word
from elmo_plugin.importers.report import Unusable
from elmo_plugin.importers.tagged_sentence import TaggedSentence, sentence_at, type_without_spaces
from elmo_plugin.tasks.spans import Span, spans_to_tags
from elmo_plugin.tasks.tokenizers import RawTextTokenizer

_STARTS = ("start_char", "start", "start_offset", "begin", "from")
_ENDS = ("end_char", "end", "end_offset", "stop", "to")
_TYPES = ("label", "labels", "type", "entity", "entity_group", "entity_type", "tag", "category")


class Entity(NamedTuple):
    """
    The first character of an entity, the one after its last, and its type.

    covered: the text between them, if the file repeats it
    is_in_pieces: whether it has several pieces, with other words between them
    """

    start: int
    end: int
    kind: str
    covered: str = ""
    is_in_pieces: bool = False


class AnnotatedText(NamedTuple):
    """A text, and the entities in it."""

    text: str
    entities: list[Entity]


def entity_of_pieces(places: Sequence[int], kind: str, covered: str) -> Entity:
    """
    Returns an entity of one or several pieces. `places` are two numbers for each piece: its first
    character, and the one after its last.
    """
    return Entity(places[0], places[-1], kind, covered, is_in_pieces=len(places) > 2)


def encloses_covered_text(text: str, entity: Entity) -> bool:
    """
    Returns whether an entity's places enclose the text that its file repeats. They do not if its
    tool counts bytes, or emoji as two characters, or if somebody has changed the text.
    """
    if not entity.covered:
        return True
    return text[entity.start : entity.end].split() == entity.covered.split()


def words_of_text(text: str, tokenizer: RawTextTokenizer) -> list[Word]:
    """Splits a text into words, with their places."""
    words = []
    for token in tokenizer.tokenize(text):
        if token.idx is not None and token.idx_end is not None:
            words.append(Word(token.ensure_text(), token.idx, token.idx_end))
    return words


def sentence_of_places(
    place: str, words: Sequence[Word], annotated: AnnotatedText
) -> TaggedSentence:
    """
    Returns the words of a text, and the tags of its entities, in BIO. The same entity from two
    annotators counts once.

    Raises `Unusable` if an entity is not in the text, overlaps with another, or begins or ends
    within a word.
    """
    if not words:
        raise Unusable("without a word", "the text is blank")
    indices_by_start = {word.start: index for index, word in enumerate(words)}
    indices_by_end = {word.end: index for index, word in enumerate(words)}
    spans: list[Span] = []
    text = annotated.text
    for entity in sorted(_distinct_entities(annotated)):
        span = _span_of_entity(text, entity, indices_by_start, indices_by_end)
        if spans and span.start < spans[-1].end:
            raise Unusable("with entities that overlap", _describe(text, entity))
        spans.append(span)
    tags = spans_to_tags(spans, len(words), "BIO")
    return sentence_at(place, [word.text for word in words], tags)


def _distinct_entities(annotated: AnnotatedText) -> set[Entity]:
    """
    Returns the entities without repetitions. Raises `Unusable` if the text that a file repeats is
    not at the place of its entity.
    """
    distinct: set[Entity] = set()
    for entity in annotated.entities:
        if not encloses_covered_text(annotated.text, entity):
            raise Unusable(
                "with entities that are not in the text",
                f"{entity.covered!r:.50} is not at characters {entity.start} to {entity.end}",
            )
        # The text is not compared: two entities are the same if they have the same place and type.
        kind = type_without_spaces(entity.kind)
        distinct.add(entity._replace(kind=kind, covered=""))
    return distinct


def _span_of_entity(
    text: str,
    entity: Entity,
    indices_by_start: Mapping[int, int],
    indices_by_end: Mapping[int, int],
) -> Span:
    """
    Returns the words of an entity. White space at its ends does not matter. `indices_by_start` has
    the index of the word that starts at a character, and `indices_by_end` of the word that ends
    before a character.

    Raises `Unusable` if the entity is not in the text, or begins or ends within a word.
    """
    enclosed = text[entity.start : entity.end]
    is_in_text = 0 <= entity.start < entity.end <= len(text)
    trimmed = enclosed.strip()
    if not is_in_text or not trimmed:
        raise Unusable("with entities that are not in the text", _describe(text, entity))
    start = text.index(trimmed, entity.start)
    first = indices_by_start.get(start)
    last = indices_by_end.get(start + len(trimmed))
    if first is None or last is None:
        raise Unusable(
            "with entities that begin or end within a word (--language chooses other rules)",
            _describe(text, entity),
        )
    return Span(first, last + 1, entity.kind)


def _describe(text: str, entity: Entity) -> str:
    """Returns an entity as messages show it: its text, its type and its place."""
    enclosed = text[entity.start : entity.end]
    place_in_text = f"at characters {entity.start} to {entity.end}"
    return f"{enclosed!r:.50} ({entity.kind}) {place_in_text}"


def entities_of(items: Any) -> Iterator[Entity]:
    """
    Yields the entities of a text. `items` is a single object, or a list of objects or of lists.
    Raises `Unusable` if an entity lacks its places or its type.
    """
    if not isinstance(items, list):
        items = [items]
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("result"), list):
            yield from _entities_of_label_studio(item)
        elif isinstance(item, dict):
            yield _entity_of_object(item)
        elif isinstance(item, list):
            yield _entity_of_list(item)
        else:
            raise _malformed_error(item)


def _entities_of_label_studio(annotation: Mapping[str, Any]) -> Iterator[Entity]:
    """
    Yields the entities that one annotator marked in Label Studio. Other results, such as relations
    and choices, have no start.
    """
    if annotation.get("was_cancelled"):
        return
    for item in annotation["result"]:
        if not isinstance(item, dict):
            continue
        value = item.get("value")
        if isinstance(value, dict) and "start" in value:
            yield _entity_of_object(value)


def _entity_of_list(item: Sequence[Any]) -> Entity:
    """
    Returns the entity of a list of its start, its end and its type, such as `[0, 4, "PER"]`. The
    type may also stand before the numbers. Raises `Unusable` if the list has something else.
    """
    places = [part for part in item if type(part) is int]  # truth values are no places
    kinds = [part for part in item if isinstance(part, str) and part.strip()]
    if len(places) != 2 or len(kinds) != 1:
        raise _malformed_error(item)
    start, end = places
    return Entity(start, end, kinds[0])


def _entity_of_object(item: Mapping[str, Any]) -> Entity:
    """
    Returns the entity of an object. Its places and text may be in an inner object: the `value` of
    Label Studio, or the first one of the `points` of Dataturks. Raises `Unusable` if it lacks a
    place or its type.
    """
    points: Any = item.get("points")
    is_of_dataturks = bool(points) and is_list_of(points, dict)
    inner = item.get("value")
    if is_of_dataturks:
        inner = points[0]
    fields = dict(item)
    if isinstance(inner, dict):
        fields |= inner
    start = _first_value(fields, _STARTS)
    end = _first_value(fields, _ENDS)
    kind = _first_value(fields, _TYPES)
    if type(start) is not int or type(end) is not int:
        raise _malformed_error(item)
    if not isinstance(kind, str) or not kind.strip():
        raise _malformed_error(item)
    if is_of_dataturks:
        end += 1  # Dataturks counts the last character, and others the one behind it
    entity = Entity(start, end, kind)
    covered = fields.get("text")
    if isinstance(covered, str):
        return entity._replace(covered=covered)
    return entity


def _malformed_error(item: object) -> Unusable:
    """Returns the error that an item does not describe an entity."""
    return Unusable(
        'with malformed entities (expected [0, 4, "PER"] or alike, with the places of each)',
        f"got {item!r:.80}",
    )


def _first_value(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """
    Returns the value of the first of these fields that has one. Instead of a list of a single item,
    such as the `labels` of Label Studio, it returns the item.
    """
    for name in names:
        value = fields.get(name)
        if isinstance(value, list) and len(value) == 1:
            return value[0]
        if value is not None:
            return value
    return None
