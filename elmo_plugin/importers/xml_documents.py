"""Entities in XML: as elements in its text, or by their characters in GATE, BioC and i2b2."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.bioc import is_bioc, passages_of_bioc
from elmo_plugin.importers.document_lines import sentences_of_document
from elmo_plugin.importers.entity_places import sentence_of_places, words_of_text
from elmo_plugin.importers.gate import document_of_gate, is_gate
from elmo_plugin.importers.inline_xml import sentences_of_elements
from elmo_plugin.importers.report import Unusable
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.xml_offsets import document_of_offsets, has_offsets

_BEGINNING = re.compile(r"\s*<(\?xml|!DOCTYPE|[A-Za-z_][\w.:-]*[\s>])")
_MAX_DEPTH = 200  # a function that reads an element calls itself for each inner one


def is_xml(source: TaggedFile) -> bool:
    """Returns whether a file is XML: it is declared as XML, or it is one whole element."""
    if not _BEGINNING.match(source.text):
        return False
    if source.text.lstrip().startswith(("<?xml", "<!DOCTYPE")):
        return True
    try:
        ElementTree.fromstring(source.text)
    except ElementTree.ParseError:
        return False
    return True


def sentences_of_xml(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of a document, with entities in BIO. Raises `ConfigurationError`, naming
    the file, if it cannot be read as XML, or lacks entities.
    """
    try:
        root = ElementTree.fromstring(source.text)
    except ElementTree.ParseError as error:
        raise ConfigurationError(f"{source.file}: not XML that can be read ({error})") from None
    if _is_deeper_than(root, _MAX_DEPTH):
        raise ConfigurationError(
            f"{source.file}: expected at most {_MAX_DEPTH} elements within each other, got more"
        )
    if is_gate(root):
        source.report.took("a document of GATE, each line a sentence")
        yield from sentences_of_document("text", document_of_gate(root), source)
    elif is_bioc(root):
        source.report.took("a collection of BioC, each passage a sentence")
        for name, passage in passages_of_bioc(source.file, root):
            yield from sentences_of_document(name, passage, source)
    elif has_offsets(root):
        source.report.took("XML with the characters of entities, each line a sentence")
        yield from sentences_of_document("text", document_of_offsets(root), source)
    else:
        yield from _sentences_with_elements(root, source)


def _is_deeper_than(root: ElementTree.Element, depth: int) -> bool:
    """
    Returns whether more elements than `depth` are within each other. A hostile file may be so deep
    that a recursive function would fail, so this one goes from level to level.
    """
    level = [root]
    for _ in range(depth):
        next_level: list[ElementTree.Element] = []
        for element in level:
            next_level.extend(element)
        if not next_level:
            return False
        level = next_level
    return True


def _sentences_with_elements(
    root: ElementTree.Element, source: TaggedFile
) -> Iterator[TaggedSentence]:
    """Yields the sentences whose entities are elements in them."""
    source.report.took("XML with elements around its entities")
    sentences = list(sentences_of_elements(root))
    if not any(annotated.entities for annotated in sentences):
        raise ConfigurationError(
            f"{source.file}: no entities: expected elements around them within text, such as "
            "<s><person>Ada</person> left.</s>"
        )
    for number, annotated in enumerate(sentences, start=1):
        place = f"sentence {number}"
        try:
            words = words_of_text(annotated.text, source.tokenizer)
            yield sentence_of_places(place, words, annotated)
        except Unusable as error:
            source.report.leave_out(error.reason, f"{place} ({error})")
