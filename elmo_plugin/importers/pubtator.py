"""PubTator's titles and abstracts, with entities by their characters in lines below each."""

import re
from collections.abc import Iterator, Sequence

from elmo_plugin.importers.document_lines import sentences_of_document
from elmo_plugin.importers.entity_places import Entity
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.tokenizers import RawTextTokenizer

_TEXT = re.compile(r"(?P<document>\w+)\|[ta]\|(?P<text>.*)")
_ENTITY = re.compile(r"\w+\t(?P<start>\d+)\t(?P<end>\d+)\t[^\t]+\t(?P<kind>[^\t]+)(\t.*)?")


def is_pubtator(lines: Sequence[str]) -> bool:
    """Returns whether the first line with text is a title."""
    filled = [line for line in lines if line.strip()]
    return bool(filled) and re.match(r"\w+\|t\|", filled[0]) is not None


def pubtator_sentences(
    lines: Sequence[str], tokenizer: RawTextTokenizer, report: Report
) -> Iterator[TaggedSentence]:
    """Yields the title and the abstract of each document, each as a sentence."""
    name = ""
    texts: list[str] = []
    entities: list[Entity] = []
    for line in [*lines, ""]:
        text = _TEXT.fullmatch(line)
        entity = _ENTITY.fullmatch(line)
        if text is not None:
            name = text["document"]
            texts.append(text["text"])
        elif entity is not None:
            kind = "_".join(entity["kind"].split())
            entities.append(Entity(int(entity["start"]), int(entity["end"]), kind))
        elif not line.strip():  # a blank line ends a document
            joined = "\n".join(texts)
            yield from sentences_of_document(name, joined, entities, tokenizer, report)
            texts = []
            entities = []
