"""GATE's documents in XML: a text with numbered nodes, and annotations from node to node."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from elmo_plugin.importers.entity_places import AnnotatedText, Entity

_TYPES_OF_GATE = ("Token", "SpaceToken", "Sentence", "Split", "Lookup", "paragraph")
"""The types of annotations that GATE itself makes, of words and sentences."""
_SET_OF_MARKUP = "Original markups"


def is_gate(root: Element) -> bool:
    """Returns whether a document is GATE's."""
    return root.tag == "GateDocument"


def document_of_gate(root: Element) -> AnnotatedText:
    """Returns the text of a document, and its entities."""
    text = ""
    places = {}  # the character of the text at which each node stands
    for part in root.iter("TextWithNodes"):
        text += part.text or ""
        for node in part:
            places[node.get("id")] = len(text)
            text += node.tail or ""
    entities = []
    for annotation in _annotations(root):
        # The place -1 of an unknown node is outside of the text, so the entity is not used.
        start = places.get(annotation.get("StartNode"), -1)
        end = places.get(annotation.get("EndNode"), -1)
        entities.append(Entity(start, end, str(annotation.get("Type"))))
    return AnnotatedText(text, entities)


def _annotations(root: Element) -> Iterator[Element]:
    """
    Yields the annotations that people made, without those that GATE made or found in the markup of
    the original document.
    """
    for annotations in root.iter("AnnotationSet"):
        if annotations.get("Name") != _SET_OF_MARKUP:
            for annotation in annotations.iter("Annotation"):
                if annotation.get("Type") not in _TYPES_OF_GATE:
                    yield annotation
