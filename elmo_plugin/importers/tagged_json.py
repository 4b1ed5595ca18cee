"""
Tagged sentences of JSON. A record has a list of words and a list of tags, or a text and the
characters of its entities: doccano, Prodigy, spaCy, Label Studio, Rasa, Dataturks and Hugging Face
write such records.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.typography import Word
from elmo_plugin.importers.cells import list_in_cell
from elmo_plugin.importers.column_names import ENTITY_NAMES, WORD_CLASS_NAMES, WORD_NAMES
from elmo_plugin.importers.document_sentences import has_sentences, records_of_sentences
from elmo_plugin.importers.entity_places import (
    AnnotatedText,
    entities_of,
    sentence_of_places,
    words_of_text,
)
from elmo_plugin.importers.json_records import Record, is_json, read_objects
from elmo_plugin.importers.options import ImportOptions, check_different_columns, chosen_name
from elmo_plugin.importers.python_examples import is_python, read_examples
from elmo_plugin.importers.rejected import is_rejected
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence, sentence_at
from elmo_plugin.importers.word_spans import SpanEnds, find_ends, spans_of, tags_of_spans
from elmo_plugin.tasks.ner.tags import parse_tags
from elmo_plugin.tasks.tokenizers import RawTextTokenizer

_TEXT_NAMES = (*WORD_NAMES, "sentence", "content", "raw", "tokenized_text", "document")
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
_BETWEEN_TAGS = re.compile(r"[,\s]+")


class Keys(NamedTuple):
    """The key of a record's words, or of its text, and the key of its tags or entities."""

    words: str
    tags: str


def has_json(source: TaggedFile) -> bool:
    """Returns whether a file begins as JSON does."""
    return is_json(source.text)


def sentences_of_json(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of the objects of a file."""
    return sentences_of_records(read_objects(source.file, source.text), source)


def has_python(source: TaggedFile) -> bool:
    """Returns whether a file begins with Python's examples."""
    return is_python(source.text)


def sentences_of_python(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of Python's examples."""
    return sentences_of_records(read_examples(source.file, source.text), source)


def sentences_of_records(records: Iterable[Record], source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentence of each record of a file. Records that cannot be used, or were rejected by
    an annotator, are left out. Texts become words by spaCy's rules, and their entities become tags
    in BIO.

    Raises `ConfigurationError`, naming file and place, if the keys of words and tags are not found,
    or if tags are numbers without names.
    """
    sentence_records: list[Record] = []
    for record in records:
        if has_sentences(record):
            sentence_records.extend(records_of_sentences(record))
        else:
            sentence_records.append(_with_data_of_label_studio(record))
    if not sentence_records:
        return
    report = source.report
    keys = _find_keys(sentence_records, source.options)
    report.took(f"JSON: words or text in {keys.words!r}, tags or entities in {keys.tags!r}")
    span_ends = _find_span_ends(sentence_records, keys, report)
    for record in sentence_records:
        if is_rejected(record.fields):
            report.leave_out("that an annotator rejected", record.place)
            continue
        if _is_unannotated(record):
            report.leave_out("that nobody annotated", record.place)
            continue
        try:
            if span_ends is None:
                yield _sentence(record, keys, source)
            else:
                yield _sentence_of_spans(record, keys, span_ends)
        except Unusable as error:
            report.leave_out(error.reason, f"{record.place} ({error})")


def _is_unannotated(record: Record) -> bool:
    """Returns whether a record is a task of Label Studio that nobody has annotated."""
    return "data" in record.fields and record.fields.get("annotations") == []


def _find_span_ends(records: Sequence[Record], keys: Keys, report: Report) -> SpanEnds | None:
    """
    Returns how records give the end of an entity, as its last word or as the word after it, if all
    of them give entities by the numbers of words. Returns `None` if they have tags, or entities by
    characters, or no entities.
    """
    sentences = []
    num_spans = 0
    for record in records:
        words = list_in_cell(record.fields.get(keys.words))
        items = list_in_cell(record.fields.get(keys.tags)) or []
        spans = spans_of(words, items)
        if spans is None:
            return None
        num_spans += len(spans)
        sentences.append((words, items))
    if not num_spans:
        return None
    ends = find_ends(sentences)
    report.took(f"entities by the numbers of their words, {ends.value}")
    return ends


def _sentence_of_spans(record: Record, keys: Keys, ends: SpanEnds) -> TaggedSentence:
    """Returns the sentence of a record whose entities are given by the numbers of words."""
    words = list_in_cell(record.fields[keys.words])
    items = list_in_cell(record.fields.get(keys.tags)) or []
    spans = spans_of(words, items)
    assert spans is not None  # `_find_span_ends` has found spans in all records
    tags = tags_of_spans(words, spans, ends)
    document = record.fields.get("document")
    if not isinstance(document, str):
        document = ""
    stripped_words = [word.strip(" ") for word in words]  # some tools keep the space beside a word
    return sentence_at(record.place, stripped_words, tags, document)


def _with_data_of_label_studio(record: Record) -> Record:
    """Returns a record with the fields of its `data`, such as the text, beside the others."""
    data = record.fields.get("data")
    if not isinstance(data, dict):
        return record
    return record._replace(fields=data | record.fields)


def _find_keys(records: Sequence[Record], options: ImportOptions) -> Keys:
    """
    Returns the keys of words and tags: the chosen ones, or those with usual names in any of the
    records. Raises `ConfigurationError`, naming file, place and option, if one is missing, or both
    are the same.
    """
    known = _values_of_keys(records)
    chosen_words = options.columns.get("word")
    chosen_tags = options.columns.get("tag")
    if chosen_words is None:
        words = _find_key_of_words(known)
    else:
        words = chosen_name(chosen_words, list(known))
    if words is None:
        raise _missing_key(records[0], known, "word", chosen_words, WORD_NAMES[0])
    is_text = isinstance(list_in_cell(known[words]), str)
    names: Sequence[str] = _TAG_NAMES
    if is_text:
        names = (*_SPAN_NAMES, *_TAG_NAMES)
    if chosen_tags is None:
        tags = _find_key(known, names)
    else:
        tags = chosen_name(chosen_tags, list(known))
    if tags is not None:
        location = f"{records[0].file}, {records[0].place}"
        check_different_columns({"word": words, "tag": tags}, location)
        return Keys(words, tags)
    if chosen_tags is None and is_text and len(records) > 1 and _are_of_prodigy(records):
        # Prodigy writes no spans for a text without entities, so perhaps no record has the key.
        return Keys(words, "spans")
    raise _missing_key(records[0], known, "tag", chosen_tags, names[0])


def _values_of_keys(records: Sequence[Record]) -> dict[str, Any]:
    """Returns a value for each key of the records: if possible, one that is not empty."""
    values: dict[str, Any] = {}
    for record in records:
        for key, value in record.fields.items():
            if values.get(key) in (None, [], ""):
                values[key] = value
    return values


def _find_key_of_words(known: Mapping[str, Any]) -> str | None:
    """
    Returns the first usual key that has a list of words, or else the first usual key that has a
    text. Returns `None` if no usual key has either.
    """
    key_of_text = None
    for name in _TEXT_NAMES:
        for key, value in known.items():
            if key.lower() != name:
                continue
            items = list_in_cell(value)
            if items and is_list_of(items, str):
                return key
            if key_of_text is None and isinstance(value, str):
                key_of_text = key
    return key_of_text


def _find_key(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """
    Returns the key that is called by the first possible one of these names, in capital or small
    letters. Returns `None` if no key is called so.
    """
    for name in names:
        for key in fields:
            if key.lower() == name:
                return key
    return None


def _are_of_prodigy(records: Sequence[Record]) -> bool:
    """Returns whether some records have the answer of an annotator, as Prodigy stores it."""
    return any("answer" in record.fields for record in records)


def _missing_key(
    record: Record, known: Mapping[str, Any], role: str, chosen: str | None, usual: str
) -> Exception:
    """Returns the error that records lack the `chosen` key of a role, or any `usual` key of it."""
    expected = f"such as {usual!r}"
    if chosen:
        expected = repr(chosen)
    names = ", ".join(repr(key) for key in known)
    return record.error(f"expected a key {expected} (--column {role}=NAME), got {names}")


def _sentence(record: Record, keys: Keys, source: TaggedFile) -> TaggedSentence:
    """
    Returns the sentence of a record. Raises `Unusable` if its words and tags do not fit, and
    `ConfigurationError` if its tags are numbers without names.
    """
    words = list_in_cell(record.fields.get(keys.words))
    tags = list_in_cell(record.fields.get(keys.tags))
    words_and_tags = split_words_and_tags(words, tags)
    if words_and_tags is not None:
        words, tags = words_and_tags
    if isinstance(words, str):
        return _sentence_of_text(record, words, tags, source.tokenizer)
    if not is_list_of(words, str) or not isinstance(tags, list) or len(words) != len(tags):
        raise Unusable(
            "with lists that do not fit",
            f"expected a list of words as {keys.words!r} and of as many tags as {keys.tags!r}, or "
            f"a text and its entities, got {words!r:.50} and {tags!r:.50}",
        )
    if not words:
        raise Unusable("without a word", "the list is empty")
    stripped_words = [word.strip(" ") for word in words]  # some tools keep the space beside a word
    named_tags = [_name_of_tag(record, tag, source.options.labels) for tag in tags]
    return sentence_at(record.place, stripped_words, named_tags)


def _sentence_of_text(
    record: Record, text: str, items: Any, tokenizer: RawTextTokenizer
) -> TaggedSentence:
    """
    Returns the sentence of a text whose entities are given by their characters. Raises `Unusable`
    if the entities do not fit the text.
    """
    words = _words_of(record, text, tokenizer)
    annotated = AnnotatedText(text, list(entities_of(items or [])))
    return sentence_of_places(record.place, words, annotated)


def split_words_and_tags(text: Any, tags: Any) -> tuple[list[str], list[str]] | None:
    """
    Splits a text at its spaces, such as "It rained". Splits its tags too, unless they are in a
    list: "O O" or "O, O".

    Returns `None` if the tags are not tags of entities, or not as many as the words. Also returns
    `None` for a single word with its tag, because that is rather one row of a sentence.
    """
    if not isinstance(text, str):
        return None
    words = text.split()
    if isinstance(tags, str):
        tags = _BETWEEN_TAGS.split(tags.strip())
    if len(words) < 2 or not is_list_of(tags, str) or len(tags) != len(words):
        return None
    if parse_tags(set(tags)) is None:
        return None
    return words, tags


def _words_of(record: Record, text: str, tokenizer: RawTextTokenizer) -> list[Word]:
    """Returns the words of a text: the record's `tokens`, or else the tokenizer's words."""
    tokens = record.fields.get("tokens")
    if tokens and is_list_of(tokens, dict):
        words = _words_of_tokens(tokens, text)
        if words is not None:
            return words
    return words_of_text(text, tokenizer)


def _words_of_tokens(tokens: Sequence[Mapping[str, Any]], text: str) -> list[Word] | None:
    """
    Returns the words of a text at the places of Prodigy's or spaCy's tokens. Returns `None` if
    places are missing, or if the words are not the whole text.
    """
    words = []
    for token in tokens:
        start = token.get("start")
        end = token.get("end")
        if type(start) is not int or type(end) is not int:
            return None
        if text[start:end].strip():  # spaCy has tokens for line ends and double spaces
            words.append(Word(text[start:end], start, end))
    covered = "".join(word.text for word in words)
    if _without_spaces(covered) != _without_spaces(text):
        return None
    return words


def _without_spaces(text: str) -> str:
    """Returns a text without its white space."""
    return "".join(text.split())


def _name_of_tag(record: Record, tag: object, labels: Sequence[str]) -> str:
    """
    Returns a tag as text. A tag that is a number is the index of its name in `labels`. Raises
    `ConfigurationError` if the number is not an index, and `Unusable` for anything but a text or a
    number.
    """
    if isinstance(tag, str):
        return tag.strip()
    if type(tag) is not int:
        raise Unusable("with tags that are not words", f"got {tag!r:.50}")
    if not 0 <= tag < len(labels):
        raise record.error(
            f"the tag is a number, {tag}; --label-names O B-PER … gives all numbers, from 0, names"
        )
    return labels[tag]
