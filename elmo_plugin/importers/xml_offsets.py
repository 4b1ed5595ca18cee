"""XML with the text of a document, and elements with the places of its entities, as i2b2's."""

import re
from typing import NamedTuple
from xml.etree.ElementTree import Element

from elmo_plugin.importers.entity_places import Entity, type_without_spaces

_TEXT = "TEXT"
_SPANS = re.compile(r"\d{1,18}~\d{1,18}(,\d{1,18}~\d{1,18})*")  # of MAE: a piece, or several
_PLACE = re.compile(r"\d{1,18}")


class OffsetDocument(NamedTuple):
    """A text with its entities, and those that have other words between their pieces."""

    text: str
    entities: list[Entity]
    in_pieces: list[Entity]


def has_offsets(root: Element) -> bool:
    """Returns whether there are a text and elements with places."""
    if root.find(_TEXT) is None:
        return False
    return any(_places(element) for element in root.iter())


def document_of_offsets(root: Element) -> OffsetDocument:
    """
    Returns the text of a document, and its entities. The type of an entity is an attribute of its
    element, or else the element's name.
    """
    document = OffsetDocument(root.findtext(_TEXT) or "", [], [])
    for element in root.iter():
        places = _places(element)
        if not places:
            continue
        kind = element.get("TYPE") or element.get("type") or element.tag
        entity = Entity(places[0], places[-1], type_without_spaces(kind), element.get("text", ""))
        if len(places) == 2:
            document.entities.append(entity)
        else:
            document.in_pieces.append(entity)
    return document


def _places(element: Element) -> list[int]:
    """
    Returns the first character of an entity and the one behind its last, of each of its pieces.
    The list is empty for an element without places.
    """
    spans = element.get("spans", "")
    if _SPANS.fullmatch(spans):
        return [int(place) for place in _PLACE.findall(spans)]
    start = element.get("start", "")
    end = element.get("end", "")
    if _PLACE.fullmatch(start) and _PLACE.fullmatch(end):
        return [int(start), int(end)]
    return []
