"""Documents whose sentences and entities are lists of lists, as SciERC and DyGIE++ have them."""

from collections.abc import Iterator
from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record

_SENTENCES = "sentences"
_ENTITIES = "ner"


def has_sentences(record: Record) -> bool:
    """Returns whether a record is a document: a list of words and one of entities per sentence."""
    sentences: Any = record.fields.get(_SENTENCES)
    entities: Any = record.fields.get(_ENTITIES)
    if not sentences or not is_list_of(sentences, list) or not is_list_of(entities, list):
        return False
    is_words = all(is_list_of(words, str) for words in sentences)
    return is_words and len(sentences) == len(entities)


def records_of_sentences(record: Record) -> Iterator[Record]:
    """
    Yields a record for each sentence of a document. The document counts the words of entities from
    its own beginning, and the record counts them from the beginning of the sentence.
    """
    num_words_before = 0  # in the document, before this sentence
    sentences = zip(record.fields[_SENTENCES], record.fields[_ENTITIES], strict=True)
    for number, (words, entities) in enumerate(sentences, start=1):
        fields: dict[str, Any] = {
            "tokens": words,
            _ENTITIES: [_counted_from(entity, num_words_before) for entity in entities],
            "document": record.fields.get("doc_key"),
        }
        yield Record(record.file, f"{record.place}, sentence {number}", fields)
        num_words_before += len(words)


def _counted_from(entity: Any, first: int) -> Any:
    """Returns an entity such as `[7, 8, "PER"]` with its words counted from the word `first`."""
    if not isinstance(entity, list):
        return entity  # it is malformed, and refused later
    counted = []
    for part in entity:
        if type(part) is int:
            counted.append(part - first)
        else:
            counted.append(part)
    return counted
