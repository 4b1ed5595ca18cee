"""GATE's documents in XML: a text with numbered nodes, and annotations from node to node."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from elmo_plugin.importers.entity_places import Entity

_OF_THE_TEXT = ("Token", "SpaceToken", "Sentence", "Split", "Lookup", "paragraph")
"""Annotations that GATE itself makes of words and sentences."""
_OF_THE_MARKUP = "Original markups"


def is_gate(root: Element) -> bool:
    """Returns whether a document is GATE's."""
    return root.tag == "GateDocument"


def document_of_gate(root: Element) -> tuple[str, list[Entity]]:
    """Returns the text of a document, and its entities."""
    text = ""
    places = {}  # of the nodes in the text
    for part in root.iter("TextWithNodes"):
        text += part.text or ""
        for node in part:
            places[node.get("id")] = len(text)
            text += node.tail or ""
    entities = []
    for annotation in _annotations(root):
        # An unknown node gets a place outside of the text, and its line is then left out.
        start = places.get(annotation.get("StartNode"), -1)
        end = places.get(annotation.get("EndNode"), -1)
        entities.append(Entity(start, end, str(annotation.get("Type"))))
    return text, entities


def _annotations(root: Element) -> Iterator[Element]:
    """Yields the annotations that people made, but not GATE's own or the markup's."""
    for annotations in root.iter("AnnotationSet"):
        if annotations.get("Name") != _OF_THE_MARKUP:
            for annotation in annotations.iter("Annotation"):
                if annotation.get("Type") not in _OF_THE_TEXT:
                    yield annotation
