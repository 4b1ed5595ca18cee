"""PubTator's titles and abstracts, with entities by their characters in lines below each."""

import re
from collections.abc import Iterator, Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.importers.document_lines import sentences_of_document
from elmo_plugin.importers.entity_places import AnnotatedText, Entity
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence

_TITLE = re.compile(r"\w+\|t\|")
_TEXT = re.compile(r"(?P<document>\w+)\|[ta]\|(?P<text>.*)")
_ENTITY = re.compile(
    r"\w+\t(?P<start>\d+)\t(?P<end>\d+)\t(?P<text>[^\t]+)\t(?P<kind>[^\t]+)(\t.*)?"
)


def is_pubtator(source: TaggedFile) -> bool:
    """Returns whether the first line with text is a title."""
    filled = [line for line in source.lines if line.strip()]
    return bool(filled) and _TITLE.match(filled[0]) is not None


def pubtator_sentences(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the title and the abstract of each document, each as a sentence, with entities in BIO.
    Raises `ConfigurationError`, naming the file, if an entity's place is too large a number.
    """
    for document in _documents(source.lines):
        name = ""
        texts: list[str] = []
        entities: list[Entity] = []
        for line in document:
            text = _TEXT.fullmatch(line)
            entity = _ENTITY.fullmatch(line)
            if text is not None:
                name = text["document"]
                texts.append(text["text"])
            elif entity is not None:
                entities.append(_entity_of(entity, source.file))
        # Places count one character between title and abstract.
        annotated = AnnotatedText("\n".join(texts), entities)
        yield from sentences_of_document(name, annotated, source)


def _entity_of(match: re.Match[str], file: str) -> Entity:
    """Returns the entity that a line describes. Raises errors as `pubtator_sentences` does."""
    if not is_whole_number(match["start"]) or not is_whole_number(match["end"]):
        raise ConfigurationError(
            f"{file}: expected the characters of an entity, got {match[0]:.60}"
        )
    return Entity(
        start=int(match["start"]),
        end=int(match["end"]),
        kind=match["kind"],
        covered=match["text"],
    )


def _documents(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yields the lines of each document: it ends at a blank line, or at the next title."""
    document: list[str] = []
    for line in lines:
        if document and (not line.strip() or _TITLE.match(line)):
            yield document
            document = []
        if line.strip():
            document.append(line)
    if document:
        yield document
