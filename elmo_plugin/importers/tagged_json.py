"""Tagged sentences of JSON: lists of words and of tags, or a text and the characters of its
entities, as doccano, Prodigy, spaCy, Label Studio, Rasa, Dataturks and Hugging Face write them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.rejected import is_rejected
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.word_columns import ENTITY_NAMES, WORD_CLASS_NAMES, WORD_NAMES
from elmo_plugin.tasks.spans import Span, spans_to_tags
from elmo_plugin.tasks.tokenizers import RawTextTokenizer

TEXT_NAMES = (*WORD_NAMES, "sentence", "content", "raw")
_TAG_NAMES = (*ENTITY_NAMES, *WORD_CLASS_NAMES)
_SPAN_NAMES = (
    *("spans", "entities", "label", "labels", "annotations", "annotation", "ents", "result"),
)
_STARTS = ("start_char", "start", "start_offset", "begin", "from")
_ENDS = ("end_char", "end", "end_offset", "stop", "to")
_TYPES = ("label", "labels", "type", "entity", "entity_group", "entity_type", "tag", "category")
_ITEM_OF_LIST = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+)""")


class Keys(NamedTuple):
    """The keys of the words, or of the text, and of the tags or entities."""

    words: str
    tags: str


def sentences_of_records(
    records: Iterable[Record],
    options: ImportOptions,
    tokenizer: RawTextTokenizer,
    report: Report,
) -> Iterator[TaggedSentence]:
    """
    Yields the sentence of each record; those that cannot be used, or were rejected by an annotator,
    are left out. Texts become words by the tokenizer, and their entities tags in BIO.

    Raises `ConfigurationError`, naming file and place, if no such keys are found.
    """
    all_records = []
    for record in records:
        data = record.fields.get("data")
        if isinstance(data, dict):  # of Label Studio
            record = record._replace(fields=data | record.fields)
        all_records.append(record)
    if not all_records:
        return
    keys = find_keys(all_records, options)
    report.took(f"JSON: words or text in {keys.words!r}, tags or entities in {keys.tags!r}")
    for record in all_records:
        if is_rejected(record.fields):
            report.leave_out("that an annotator rejected", record.place)
            continue
        try:
            yield _sentence(record, keys, options.labels, tokenizer)
        except Unusable as error:
            report.leave_out(f"{error.reason} ({error})", record.place)


def find_keys(records: Sequence[Record], options: ImportOptions) -> Keys:
    """
    Returns the keys of words and tags, by what all records have. Raises `ConfigurationError`,
    naming file, place and option, if one is missing.
    """
    known: dict[str, Any] = {}  # a value of each key
    for record in records:
        for key, value in record.fields.items():
            if known.get(key) in (None, [], ""):
                known[key] = value
    words = options.columns.get("word")
    if words is None:
        texts = [key for name in TEXT_NAMES for key in known if key.lower() == name]
        lists = [key for key in texts if is_list_of(as_list(known[key]), str)]
        strings = [key for key in texts if isinstance(known[key], str)]
        words = next(iter([*lists, *strings]), None)
    if words not in known:
        raise _missing(records[0], known, "word", words, TEXT_NAMES[0])
    tags = options.columns.get("tag")
    if tags is None:
        usual: Sequence[str] = _TAG_NAMES
        if isinstance(as_list(known[words]), str):
            usual = (*_SPAN_NAMES, *ENTITY_NAMES)
        tags = next((key for name in usual for key in known if key.lower() == name), None)
        if tags is None and isinstance(as_list(known[words]), str) and len(records) > 1:
            tags = "spans"  # no record has an entity
            if not any("spans" in record.fields or "answer" in record.fields for record in records):
                raise _missing(records[0], known, "tag", None, usual[0])
            return Keys(words, tags)
    if tags not in known:
        raise _missing(records[0], known, "tag", tags, _TAG_NAMES[0])
    return Keys(words, tags)


def _missing(
    record: Record, known: Mapping[str, Any], role: str, name: str | None, usual: str
) -> Exception:
    expected = f"{name!r}" if name else f"such as {usual!r}"
    names = ", ".join(map(repr, known))
    return record.error(f"expected a key {expected} (--column {role}=NAME), got {names}")


def _sentence(
    record: Record, keys: Keys, labels: Sequence[str], tokenizer: RawTextTokenizer
) -> TaggedSentence:
    """
    Returns the sentence of a record. Raises `Unusable` if its words and tags do not fit.
    """
    words = as_list(record.fields.get(keys.words))
    tags = as_list(record.fields.get(keys.tags))
    if isinstance(words, str):
        return sentence_of_text(record.place, words, tags or [], tokenizer)
    if not is_list_of(words, str) or not isinstance(tags, list) or len(words) != len(tags):
        raise Unusable(
            "with lists that do not fit",
            f"expected a list of words as {keys.words!r} and of as many tags as {keys.tags!r}, or "
            f"a text and its entities, got {words!r:.50} and {tags!r:.50}",
        )
    if not words:
        raise Unusable("without a word", "the list is empty")
    named = [_name(tag, labels) for tag in tags]
    return TaggedSentence([record.place] * len(words), [word.strip(" ") for word in words], named)


def _name(tag: object, labels: Sequence[str]) -> str:
    if isinstance(tag, str):
        return tag.strip()
    if type(tag) is int and 0 <= tag < len(labels):
        return labels[tag]
    hint = "; --label-names names tags that are numbers" if isinstance(tag, int) else ""
    raise Unusable("with tags that are not words", f"got {tag!r:.50}{hint}")


def as_list(value: Any) -> Any:
    """
    Returns the list that a field of a table has as text, as JSON, Python or numpy print it, or the
    value.
    """
    if not isinstance(value, str) or not value.startswith("["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        pass
    if _ITEM_OF_LIST.sub("", value).strip("[], \n\r"):
        return value
    items: list[str | int] = []
    for text, quoted, number in _ITEM_OF_LIST.findall(value):
        items.append(int(number) if number else re.sub(r"\\(.)", r"\1", text or quoted))
    return items


def sentence_of_text(
    place: str, text: str, entities: Any, tokenizer: RawTextTokenizer
) -> TaggedSentence:
    """
    Returns the words of a text, and the tags of its entities, in BIO. An entity that stands twice,
    as of two annotators, is one.

    Raises `Unusable` if an entity is not in the text, overlaps with another, or begins or ends
    within a word.
    """
    tokens = tokenizer.tokenize(text)
    firsts = {token.idx: word for word, token in enumerate(tokens)}
    lasts = {token.idx_end: word for word, token in enumerate(tokens)}
    spans: list[Span] = []
    for start, end, kind in sorted(set(_entities(entities, text))):
        name = f"{text[start:end]!r:.50} ({kind}) at characters {start} to {end}"
        if not 0 <= start < end <= len(text) or not text[start:end].strip():
            raise Unusable("with entities that are not in the text", name)
        trimmed = text[start:end].strip()
        start = text.index(trimmed, start)
        first, last = firsts.get(start), lasts.get(start + len(trimmed))
        if first is None or last is None:
            raise Unusable(
                "with entities that begin or end within a word",
                f"{name}; --language chooses other rules",
            )
        if spans and first < spans[-1].end:
            raise Unusable("with entities that overlap", name)
        spans.append(Span(first, last + 1, kind))
    words = [token.ensure_text() for token in tokens]
    if not words:
        raise Unusable("without a word", "the text is blank")
    return TaggedSentence([place] * len(words), words, spans_to_tags(spans, len(words), "BIO"))


def _entities(items: Any, text: str) -> Iterator[tuple[int, int, str]]:
    """Yields first character, the one after the last, and type of each entity."""
    for item in items if isinstance(items, list) else [items]:
        if isinstance(item, dict) and isinstance(item.get("result"), list):  # of Label Studio
            if not item.get("was_cancelled"):
                yield from _entities(item["result"], text)
            continue
        parts = _parts(item, text) if isinstance(item, dict) else item
        numbers: list[int] = []
        kinds: list[str] = []
        for part in parts if isinstance(parts, list) else []:
            if type(part) is int:
                numbers.append(part)
            elif isinstance(part, str) and part.strip():
                kinds.append(part)
        if len(numbers) != 2 or not kinds or len(kinds) > 1:
            raise Unusable(
                "with malformed entities", f'expected [0, 4, "PER"] or alike, got {item!r:.80}'
            )
        yield numbers[0], numbers[1], "_".join(kinds[0].split())


def _parts(item: dict[str, Any], text: str) -> list[Any]:
    """Returns start, end and type of an entity that is an object."""
    points = item.get("points")  # of Dataturks
    inner = points[0] if points else item.get("value")
    fields = item | inner if isinstance(inner, dict) else item
    start, end, kind = (_first(fields, names) for names in (_STARTS, _ENDS, _TYPES))
    if points and isinstance(end, int):
        end += 1  # its last character
    covered = fields.get("text")
    has_places = type(start) is int and type(end) is int
    if has_places and isinstance(covered, str) and text[start:end].strip() != covered.strip():
        raise Unusable(
            "with entities that are not in the text",
            f"{covered!r:.50} is not at characters {start} to {end}",
        )
    return [start, end, kind]


def _first(fields: dict[str, Any], names: Sequence[str]) -> Any:
    """Returns the first of these fields that there is; of a list of one, its item."""
    for name in names:
        value = fields.get(name)
        if value is not None:
            return value[0] if isinstance(value, list) and len(value) == 1 else value
    return None
