"""BioC's collections in XML: passages, and annotations by their characters in a document."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.entity_places import AnnotatedText, Entity


def is_bioc(root: Element) -> bool:
    """Returns whether a document is a collection of BioC."""
    return root.tag == "collection" and root.find("document/passage") is not None


def passages_of_bioc(file: str, root: Element) -> Iterator[tuple[str, AnnotatedText]]:
    """
    Yields each passage, after the name of its document. Raises
    `ConfigurationError`, naming the file and the document, if an offset or a length is not a
    number, or if an annotation is without a type or does not have exactly one location.
    """
    for document in root.iter("document"):
        name = document.findtext("id") or ""
        for passage in document.iter("passage"):
            text = passage.findtext("text") or ""
            try:
                offset = int(passage.findtext("offset") or 0)
                entities = [_entity(item, offset) for item in passage.iter("annotation")]
            except ValueError as error:
                raise ConfigurationError(f"{file}, document {name}: {error}") from None
            yield name, AnnotatedText(text, entities)


def _entity(annotation: Element, passage_offset: int) -> Entity:
    """
    Returns the entity of an annotation, by its characters in the passage. The file counts them from
    the start of the document, and the passage starts at `passage_offset`. Raises `ValueError` if
    the annotation is malformed.
    """
    kind = ""
    for information in annotation.iter("infon"):
        if information.get("key") == "type":
            kind = (information.text or "").strip()
    locations = annotation.findall("location")
    if not kind or len(locations) != 1:
        raise ValueError("expected an annotation with a type and one location")
    start = int(locations[0].get("offset", "")) - passage_offset
    end = start + int(locations[0].get("length", ""))
    return Entity(start, end, kind, annotation.findtext("text") or "")
