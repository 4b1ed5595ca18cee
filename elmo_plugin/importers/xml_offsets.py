"""XML with the text of a document, and elements with the places of its entities, as i2b2's."""

import re
from xml.etree.ElementTree import Element

from elmo_plugin.common.integers import DIGITS, is_whole_number
from elmo_plugin.importers.entity_places import AnnotatedText, entity_of_pieces

_TEXT = "TEXT"
_PIECE = f"{DIGITS}~{DIGITS}"
_SPANS = re.compile(f"{_PIECE}(,{_PIECE})*")  # of MAE: a piece, or several


def has_offsets(root: Element) -> bool:
    """Returns whether one element has a document's text, and others have places in that text."""
    if root.find(_TEXT) is None:
        return False
    return any(_places(element) for element in root.iter())


def document_of_offsets(root: Element) -> AnnotatedText:
    """
    Returns the text of a document, and its entities. The type of an entity is an attribute of its
    element, or else the element's name.
    """
    entities = []
    for element in root.iter():
        places = _places(element)
        if not places:
            continue
        kind = element.get("TYPE") or element.get("type") or element.tag
        covered = element.get("text", "")
        entities.append(entity_of_pieces(places, kind, covered))
    return AnnotatedText(root.findtext(_TEXT) or "", entities)


def _places(element: Element) -> list[int]:
    """
    Returns two places for each piece of an entity: its first character, and the one after its last.
    The list is empty for an element without places.
    """
    spans = element.get("spans", "")
    if _SPANS.fullmatch(spans):
        return [int(place) for place in re.findall(DIGITS, spans)]
    start = element.get("start", "")
    end = element.get("end", "")
    if is_whole_number(start) and is_whole_number(end):
        return [int(start), int(end)]
    return []
