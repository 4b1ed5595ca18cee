"""Documents of spaCy: the `.spacy` files of spaCy 3, and the JSON by which spaCy 2 was trained."""

import json
from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError
from spacy.tokens import Doc, DocBin
from spacy.training.converters import json_to_docs
from spacy.vocab import Vocab

from elmo_plugin.common.errors import raise_if_sigterm_or_out_of_memory
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.text import read_content


def is_doc_bin(file: str) -> bool:
    """Returns whether a file is called as spaCy 3 calls its documents."""
    return file.lower().endswith(".spacy")


def is_training_json(text: str) -> bool:
    """Returns whether a text has the keys of the JSON by which spaCy 2 was trained."""
    return all(f'"{key}"' in text for key in ("paragraphs", "sentences", "tokens", "orth"))


def sentences_of_doc_bin(file: str, prefer_entities: bool) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of a `.spacy` file. Raises `ConfigurationError`, naming the file, if it
    cannot be read as one.
    """
    content = read_content(file)
    try:
        docs = list(DocBin().from_bytes(content).get_docs(Vocab()))
    except Exception as error:  # zlib and msgpack raise errors of many kinds
        raise_if_sigterm_or_out_of_memory(error)
        raise ConfigurationError(f"{file}: not a .spacy file that can be read ({error})") from None
    for number, doc in enumerate(docs, start=1):
        yield from _sentences(doc, f"document {number}", prefer_entities)


def sentences_of_training_json(
    file: str, text: str, prefer_entities: bool
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of the JSON by which spaCy 2 was trained. Raises `ConfigurationError`,
    naming the file, if it is malformed.
    """
    try:
        json.loads(text)  # spaCy would silently skip a document that is cut off
        docs = list(json_to_docs(text))
    except Exception as error:  # spaCy raises errors of many kinds
        raise_if_sigterm_or_out_of_memory(error)
        raise ConfigurationError(
            f"{file}: not JSON by which spaCy 2 was trained ({error})"
        ) from None
    for number, doc in enumerate(docs, start=1):
        yield from _sentences(doc, f"document {number}", prefer_entities)


def _sentences(doc: Doc, place: str, prefer_entities: bool) -> Iterator[TaggedSentence]:
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
            if has_parts_of_speech and not prefer_entities:
                tags.append(token.tag_ or token.pos_)
            elif token.ent_type_:
                tags.append(f"{token.ent_iob_}-{token.ent_type_}")
            else:
                tags.append("O")
        yield TaggedSentence([place] * len(words), words, tags)
