"""Sentences of JSON: lists of words and of tags, or a text and the characters of its entities."""

from collections.abc import Iterator, Sequence
from typing import Any

from allennlp.data.tokenizers import Tokenizer

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.tasks.ner.columns import ENTITY_NAMES, WORD_CLASS_NAMES, WORD_NAMES
from elmo_plugin.tasks.ner.tags import TaggedSentence
from elmo_plugin.tasks.records import Record, UnusableExample, as_list, find_field
from elmo_plugin.tasks.spans import Span, spans_to_tags

_TEXT_NAMES = (*WORD_NAMES, "sentence", "content", "raw")
_TAG_NAMES = (*ENTITY_NAMES, *WORD_CLASS_NAMES)
_SPAN_NAMES = (
    "spans",
    "entities",
    "label",
    "labels",
    "annotations",
    "annotation",
    "ents",
    "result",
)
# Names of the parts of an entity, as doccano, Prodigy, spaCy, Label Studio, Rasa and Hugging Face
# have them.
_STARTS = ("start_char", "start", "start_offset", "begin", "from")
_ENDS = ("end_char", "end", "end_offset", "stop", "to")
_TYPES = ("label", "labels", "type", "entity", "entity_group", "entity_type", "tag", "category")


def find_keys(
    record: Record, word_key: Any, tag_key: Any, needs_tags: bool
) -> tuple[str, str | None]:
    """
    Returns the keys of the words, or of the text, and of the tags or entities, if there are some.
    Raises `ConfigurationError`, naming file, line and option, if one is missing.
    """
    fields = record[1]
    names = {name.lower(): name for name in reversed(fields)}
    texts = [names[name] for name in _TEXT_NAMES if name in names]
    lists = [name for name in texts if is_list_of(as_list(fields[name]), str)]
    if word_key is not None or not texts:
        lists = [find_field(record, _TEXT_NAMES, "word_column", word_key)]
    word_key = (lists or [name for name in texts if isinstance(fields[name], str)] or texts)[0]
    usual = (
        (*_SPAN_NAMES, *ENTITY_NAMES) if isinstance(as_list(fields[word_key]), str) else _TAG_NAMES
    )
    if not needs_tags and tag_key not in fields and not names.keys() & set(usual):
        return word_key, None
    return word_key, find_field(record, usual, "tag_column", tag_key)


def sentence_in(
    record: Record,
    word_key: str,
    tag_key: str | None,
    label_names: Sequence[str] | None,
    tokenizer: Tokenizer,
) -> TaggedSentence:
    """
    Returns the sentence of a record: lists of words and of tags, or a text with its entities as
    characters, in BIO.

    Raises `ConfigurationError`, naming file and line, if one is missing, and `UnusableExample` if
    it does not fit the other.
    """
    line, fields = record
    words = as_list(fields[find_field(record, (), "word_column", word_key)])
    if isinstance(words, str):
        sentence = _split_text(
            words, (tag_key and fields.get(tag_key)) or [], tokenizer, line.number
        )
        return sentence if tag_key else sentence._replace(tags=[])
    tags = (
        words if tag_key is None else as_list(fields[find_field(record, (), "tag_column", tag_key)])
    )
    if not is_list_of(words, str) or not isinstance(tags, list) or len(words) != len(tags):
        raise UnusableExample(
            "with lists that do not fit",
            f"expected a list of words as {word_key!r} and of as many tags as {tag_key!r}, or a "
            f"text and its entities, got {words!r:.50} and {tags!r:.50}",
        )
    if label_names:
        is_number = [type(tag) is int and 0 <= tag < len(label_names) for tag in tags]
        tags = [
            label_names[tag] if named else tag for tag, named in zip(tags, is_number, strict=True)
        ]
    if wrong := [tag for tag in tags if not isinstance(tag, str)]:
        hint = "; the option label_names names tags that are numbers" * isinstance(wrong[0], int)
        raise UnusableExample(
            "with other tags", f"expected words and tags, got {wrong[0]!r:.50}{hint}"
        )
    tags = [] if tag_key is None else [tag.strip() for tag in tags]
    return TaggedSentence([line.number] * len(words), [word.strip(" ") for word in words], tags)


def _split_text(text: str, items: Any, tokenizer: Tokenizer, line: int) -> TaggedSentence:
    """Returns the words of a text, and the tags of its entities, in BIO."""
    tokens = tokenizer.tokenize(text)
    firsts = {token.idx: word for word, token in enumerate(tokens)}
    lasts = {token.idx_end: word for word, token in enumerate(tokens)}
    spans: list[Span] = []
    for start, end, kind in sorted(_entities(items, text)):
        place = f"the entity {text[start:end]!r:.50} ({kind}) at characters {start} to {end}"
        if not 0 <= start < end <= len(text) or not text[start:end].strip():
            raise UnusableExample(
                "with entities that are not in the text", f"{place} is not in the text"
            )
        trimmed = text[start:end].strip()
        start = text.index(trimmed, start)
        first, last = firsts.get(start), lasts.get(start + len(trimmed))
        if first is None or last is None:
            raise UnusableExample(
                "with entities that begin or end within a word",
                f"{place} begins or ends within a word; the option tokenizer splits words "
                "otherwise",
            )
        if spans and first < spans[-1].end:
            raise UnusableExample(
                "with entities that overlap", f"{place} overlaps with an earlier one"
            )
        spans.append(Span(first, last + 1, kind))
    words = [token.ensure_text() for token in tokens]
    return TaggedSentence([line] * len(words), words, spans_to_tags(spans, len(words), "BIO"))


def _entities(items: Any, text: str) -> Iterator[tuple[int, int, str]]:
    """Yields first character, the one after the last, and type of each entity."""
    for item in items if isinstance(items, list) else [items]:
        if isinstance(item, dict) and isinstance(item.get("result"), list):  # of Label Studio
            yield from _entities([] if item.get("was_cancelled") else item["result"], text)
            continue
        parts = item
        if isinstance(item, dict):
            inner = item["points"][0] if item.get("points") else item.get("value")  # of Dataturks
            fields = item | inner if isinstance(inner, dict) else item
            parts = [_first(fields, names) for names in (_STARTS, _ENDS, _TYPES)]
            covered: Any = fields.get("text")
            if item.get("points") and isinstance(parts[1], int):
                parts[1] += 1  # its last character
            has_places = isinstance(covered, str) and type(parts[0]) is type(parts[1]) is int
            if has_places and text[parts[0] : parts[1]].strip() != covered.strip():
                message = (
                    f"the entity {covered!r:.50} is not at characters {parts[0]} to {parts[1]}"
                )
                raise UnusableExample("with entities that are not in the text", message)
        numbers = [part for part in parts if type(part) is int] if isinstance(parts, list) else []
        kinds = (
            [part for part in parts if isinstance(part, str) and part.strip()] if numbers else []
        )
        if len(numbers) != 2 or len(kinds) != 1:
            raise UnusableExample(
                "with malformed entities",
                f'expected an entity such as [0, 4, "PER"], got {item!r:.80}',
            )
        yield *numbers, "_".join(kinds[0].split())  # type: ignore[misc]


def _first(fields: dict[str, Any], names: Sequence[str]) -> Any:
    found = next((fields[name] for name in names if fields.get(name) is not None), None)
    return found[0] if isinstance(found, list) and len(found) == 1 else found
