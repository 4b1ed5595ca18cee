"""Documents of spaCy: the `.spacy` files of spaCy 3, and the JSON by which spaCy 2 was trained."""

import json
from collections.abc import Iterator, Sequence

from allennlp.common.checks import ConfigurationError
from spacy.tokens import Doc, DocBin
from spacy.training.converters import json_to_docs
from spacy.vocab import Vocab

from elmo_plugin.common.errors import raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.formats.text_files import suffix_of
from elmo_plugin.importers.json_records import is_json
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence, sentence_at, type_without_spaces
from elmo_plugin.importers.text import read_content

_KEYS_OF_TRAINING_JSON = ("paragraphs", "sentences", "tokens", "orth")


def is_doc_bin(source: TaggedFile) -> bool:
    """Returns whether a file is called as spaCy 3 calls its documents."""
    return suffix_of(source.file) == ".spacy"


def is_training_json(source: TaggedFile) -> bool:
    """Returns whether a file has the keys of the JSON by which spaCy 2 was trained."""
    if not is_json(source.text):
        return False
    return all(f'"{key}"' in source.text for key in _KEYS_OF_TRAINING_JSON)


def sentences_of_doc_bin(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of a `.spacy` file. Raises `ConfigurationError`, naming the file, if it
    cannot be read as one.
    """
    content = read_content(source.file)
    try:
        docs = list(DocBin().from_bytes(content).get_docs(Vocab()))
    except Exception as error:  # zlib and msgpack raise errors of many kinds
        raise_if_sigterm_or_out_of_memory(error)
        raise ConfigurationError(
            f"{source.file}: not a .spacy file that can be read ({error})"
        ) from None
    yield from _sentences_of_docs(docs, source.prefers_entities)


def sentences_of_training_json(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of the JSON by which spaCy 2 was trained. Raises `ConfigurationError`,
    naming the file, if it is malformed.
    """
    try:
        json.loads(source.text)  # spaCy would silently skip a document that is cut off
        docs = list(json_to_docs(source.text))
    except Exception as error:  # spaCy raises errors of many kinds
        raise_if_sigterm_or_out_of_memory(error)
        raise ConfigurationError(
            f"{source.file}: not JSON by which spaCy 2 was trained ({error})"
        ) from None
    yield from _sentences_of_docs(docs, source.prefers_entities)


def _sentences_of_docs(docs: Sequence[Doc], prefers_entities: bool) -> Iterator[TaggedSentence]:
    """Yields the sentences of all documents."""
    for number, doc in enumerate(docs, start=1):
        yield from _sentences(doc, f"document {number}", prefers_entities)


def _sentences(doc: Doc, place: str, prefers_entities: bool) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of a document, or the whole document if it is not split into sentences. The
    tags are entities in BIO. If the document has parts of speech and entities are not preferred,
    the tags are parts of speech.
    """
    spans = [doc[:]]
    if doc.has_annotation("SENT_START"):
        spans = list(doc.sents)
    has_parts_of_speech = doc.has_annotation("TAG") or doc.has_annotation("POS")
    for span in spans:
        words = []
        tags = []
        for token in span:
            if token.is_space:
                continue  # spaCy keeps white space as a token
            words.append(token.text)
            if has_parts_of_speech and not prefers_entities:
                tags.append(token.tag_ or token.pos_)
            elif token.ent_type_:
                tags.append(f"{token.ent_iob_}-{type_without_spaces(token.ent_type_)}")
            else:
                tags.append("O")
        yield sentence_at(place, words, tags)
