"""Entities as elements within the sentences of XML: `<s><person>Ada</person> left</s>`."""

from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element

from elmo_plugin.importers.entity_places import AnnotatedText, Entity

_LAYOUT = ("b", "i", "u", "em", "strong", "hi", "emph", "sub", "sup", "lb", "br", "pb", "note")
_TYPE_ATTRIBUTES = ("TYPE", "type", "Type", "class", "label", "category")


def sentences_of_elements(root: Element) -> Iterator[AnnotatedText]:
    """Yields the text of each sentence, and the entities in it by their characters."""
    entity_names = set(_names_of_entities(root))
    for sentence in _sentences(root, entity_names):
        yield _annotated_text(sentence, entity_names)


def _name_of(element: Element) -> str:
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
                if _name_of(inner) not in _LAYOUT and _text_in(inner).strip():
                    yield _name_of(inner)


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
    has_entities = any(_name_of(inner) in entity_names for inner in element)
    if has_only_text or has_entities or _has_mixed_content(element):
        yield element
        return
    for inner in element:
        yield from _sentences(inner, entity_names)


def _annotated_text(
    element: Element, entity_names: Collection[str], start: int = 0
) -> AnnotatedText:
    """
    Returns the text of an element, and the entities in it by their characters. It calls itself for
    the inner elements. `start` is the character of the sentence at which the element begins.
    """
    text = element.text or ""
    entities: list[Entity] = []
    for inner in element:
        inner_start = start + len(text)
        annotated = _annotated_text(inner, entity_names, inner_start)
        text += annotated.text
        if _name_of(inner) in entity_names and annotated.text.strip():
            inner_end = inner_start + len(annotated.text)
            entities.append(Entity(inner_start, inner_end, _type_of_entity(inner)))
        entities += annotated.entities
        text += inner.tail or ""
    return AnnotatedText(text, entities)


def _type_of_entity(element: Element) -> str:
    """Returns the type of an entity: an attribute, or else the name of its element."""
    for name in _TYPE_ATTRIBUTES:
        if element.get(name):
            return str(element.get(name))
    return _name_of(element)
