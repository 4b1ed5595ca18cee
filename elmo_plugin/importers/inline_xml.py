"""Entities as elements within the sentences of XML: `<s><person>Ada</person> left</s>`."""

from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element

from elmo_plugin.importers.entity_places import Entity, type_without_spaces

_LAYOUT = ("b", "i", "u", "em", "strong", "hi", "emph", "sub", "sup", "lb", "br", "pb", "note")
_TYPE_ATTRIBUTES = ("TYPE", "type", "Type", "class", "label", "category")


def sentences_of_elements(root: Element) -> Iterator[tuple[str, list[Entity]]]:
    """Yields the text of each sentence, and the entities in it by their characters."""
    entity_names = set(_names_of_entities(root))
    for sentence in _sentences(root, entity_names):
        text, entities = _text_and_entities(sentence, entity_names)
        yield text, entities


def name_of(element: Element) -> str:
    """Returns the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _names_of_entities(root: Element) -> Iterator[str]:
    """
    Yields the names of the elements that mark entities: they enclose a part of a text, and do not
    belong to its layout.
    """
    for element in root.iter():
        if _has_mixed_content(element):
            for inner in element:
                if name_of(inner) not in _LAYOUT and _text_in(inner).strip():
                    yield name_of(inner)


def _has_mixed_content(element: Element) -> bool:
    """Returns whether an element directly contains text beside other elements."""
    if len(element) == 0:
        return False
    texts = [element.text, *(inner.tail for inner in element)]
    return any(text is not None and text.strip() for text in texts)


def _text_in(element: Element) -> str:
    """Returns the text of an element and of all elements in it."""
    return "".join(element.itertext())


def _sentences(element: Element, entity_names: Collection[str]) -> Iterator[Element]:
    """Yields the outermost elements that directly contain text or entities."""
    has_only_text = len(element) == 0 and _text_in(element).strip() != ""
    has_entities = any(name_of(inner) in entity_names for inner in element)
    if has_only_text or has_entities or _has_mixed_content(element):
        yield element
        return
    for inner in element:
        yield from _sentences(inner, entity_names)


def _text_and_entities(
    element: Element, entity_names: Collection[str], start: int = 0
) -> tuple[str, list[Entity]]:
    """
    Returns the text of an element, and the entities in it by their characters. It calls itself for
    the inner elements. `start` is the character of the sentence at which the element begins.
    """
    text = element.text or ""
    entities: list[Entity] = []
    for inner in element:
        inner_start = start + len(text)
        inner_text, inner_entities = _text_and_entities(inner, entity_names, inner_start)
        text += inner_text
        if name_of(inner) in entity_names and inner_text.strip():
            inner_end = inner_start + len(inner_text)
            entities.append(Entity(inner_start, inner_end, _type_of_entity(inner)))
        entities += inner_entities
        text += inner.tail or ""
    return text, entities


def _type_of_entity(element: Element) -> str:
    """Returns the type of an entity: an attribute, or else the name of its element."""
    for name in _TYPE_ATTRIBUTES:
        if element.get(name):
            return type_without_spaces(str(element.get(name)))
    return name_of(element)
