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
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.xml_offsets import document_of_offsets, has_offsets
from elmo_plugin.tasks.tokenizers import RawTextTokenizer

_BEGINNING = re.compile(r"\s*<(\?xml|!DOCTYPE|[A-Za-z_][\w.:-]*[\s>])")
_MAX_DEPTH = 200  # a function that reads an element calls itself for each inner one


def is_xml(text: str) -> bool:
    """Returns whether a text is XML: it is declared as XML, or it is one whole element."""
    if not _BEGINNING.match(text):
        return False
    if text.lstrip().startswith(("<?xml", "<!DOCTYPE")):
        return True
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


def sentences_of_xml(
    file: str, text: str, tokenizer: RawTextTokenizer, report: Report
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of a document, with entities in BIO. Raises `ConfigurationError`, naming
    the file, if it cannot be read as XML, or lacks entities.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ConfigurationError(f"{file}: not XML that can be read ({error})") from None
    if _is_deeper_than(root, _MAX_DEPTH):
        raise ConfigurationError(
            f"{file}: expected at most {_MAX_DEPTH} elements within each other, got more"
        )
    if is_gate(root):
        report.took("a document of GATE, each line a sentence")
        content, entities = document_of_gate(root)
        yield from sentences_of_document("text", content, entities, tokenizer, report)
    elif is_bioc(root):
        report.took("a collection of BioC, each passage a sentence")
        for name, passage, entities in passages_of_bioc(file, root):
            yield from sentences_of_document(name, passage, entities, tokenizer, report)
    elif has_offsets(root):
        report.took("XML with the characters of entities, each line a sentence")
        document = document_of_offsets(root)
        yield from sentences_of_document(
            "text", document.text, document.entities, tokenizer, report
        )
    else:
        yield from _sentences_with_elements(file, root, tokenizer, report)


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
    file: str, root: ElementTree.Element, tokenizer: RawTextTokenizer, report: Report
) -> Iterator[TaggedSentence]:
    """Yields the sentences whose entities are elements in them."""
    report.took("XML with elements around its entities")
    sentences = list(sentences_of_elements(root))
    if not any(entities for _, entities in sentences):
        raise ConfigurationError(
            f"{file}: no entities: expected elements around them within text, such as "
            "<s><person>Ada</person> left.</s>"
        )
    for number, (text, entities) in enumerate(sentences, start=1):
        place = f"sentence {number}"
        try:
            words = words_of_text(text, tokenizer)
            yield sentence_of_places(place, words, text, entities)
        except Unusable as error:
            report.leave_out(error.reason, f"{place} ({error})")
