"""Entities as elements within the sentences of XML: `<s><person>Ada</person> left</s>`."""

from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element

from elmo_plugin.importers.entity_places import Entity, type_without_spaces

_LAYOUT = ("b", "i", "u", "em", "strong", "hi", "emph", "sub", "sup", "lb", "br", "pb", "note")
_TYPES = ("TYPE", "type", "Type", "class", "label", "category")


def sentences_of_elements(root: Element) -> Iterator[tuple[str, list[Entity]]]:
    """Yields the text of each sentence, and the entities in it by their characters."""
    names = set(_names_of_entities(root))
    for sentence in _sentences(root, names):
        text, entities = _text_and_entities(sentence, names)
        yield text, entities


def name_of(element: Element) -> str:
    """Returns the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _names_of_entities(root: Element) -> Iterator[str]:
    """Yields the names of elements that enclose part of a text, but not of its layout."""
    for element in root.iter():
        if _has_own_text(element):
            for inner in element:
                if name_of(inner) not in _LAYOUT and _text_in(inner).strip():
                    yield name_of(inner)


def _has_own_text(element: Element) -> bool:
    """Returns whether an element has text and elements side by side."""
    if len(element) == 0:
        return False
    own = (element.text or "") + "".join(inner.tail or "" for inner in element)
    return own.strip() != ""


def _text_in(element: Element) -> str:
    """Returns the text of an element and of all elements in it."""
    return "".join(element.itertext())


def _sentences(element: Element, names: Collection[str]) -> Iterator[Element]:
    """Yields the outermost elements that have text, or entities, directly in them."""
    has_text = len(element) == 0 and _text_in(element).strip() != ""
    has_entities = any(name_of(inner) in names for inner in element)
    if has_text or has_entities or _has_own_text(element):
        yield element
        return
    for inner in element:
        yield from _sentences(inner, names)


def _text_and_entities(
    element: Element, names: Collection[str], start: int = 0
) -> tuple[str, list[Entity]]:
    """
    Returns the text of a sentence, and the entities in it by their characters. Calls itself for the
    inner elements, whose text begins at the character `start` of the sentence.
    """
    text = element.text or ""
    entities: list[Entity] = []
    for inner in element:
        first = start + len(text)
        inner_text, inner_entities = _text_and_entities(inner, names, first)
        text += inner_text
        if name_of(inner) in names and inner_text.strip():
            entities.append(Entity(first, first + len(inner_text), _kind(inner)))
        entities += inner_entities
        text += inner.tail or ""
    return text, entities


def _kind(element: Element) -> str:
    """Returns the type of an entity: an attribute, or else the name of its element."""
    for name in _TYPES:
        if element.get(name):
            return type_without_spaces(str(element.get(name)))
    return name_of(element)
