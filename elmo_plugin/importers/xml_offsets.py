"""XML with the text of a document, and elements with the places of its entities, as i2b2's."""

import re
from xml.etree.ElementTree import Element

from elmo_plugin.importers.entity_places import Entity

_TEXT = "TEXT"
_SPAN = re.compile(r"(\d+)~(\d+)")  # of MAE
_PLACE = re.compile(r"\d{1,18}")


def has_offsets(root: Element) -> bool:
    """Returns whether there are a text and elements with places."""
    if root.find(_TEXT) is None:
        return False
    return any(_places(element) is not None for element in root.iter())


def document_of_offsets(root: Element) -> tuple[str, list[Entity]]:
    """Returns the text of a document, and its entities: the type is an attribute, or their name."""
    text = root.findtext(_TEXT) or ""
    entities = []
    for element in root.iter():
        places = _places(element)
        if places is not None:
            kind = element.get("TYPE") or element.get("type") or element.tag
            start, end = places
            entities.append(Entity(start, end, "_".join(kind.split()), element.get("text", "")))
    return text, entities


def _places(element: Element) -> tuple[int, int] | None:
    """Returns the first character of an entity and the one behind its last."""
    span = _SPAN.fullmatch(element.get("spans", ""))
    start = element.get("start", "")
    end = element.get("end", "")
    if span is not None:
        start, end = span.groups()
    if not _PLACE.fullmatch(start) or not _PLACE.fullmatch(end):
        return None
    return int(start), int(end)
