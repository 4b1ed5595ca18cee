"""Entity tags: the encodings of CoNLL-2003 data, and the entities that they stand for."""

import re

from allennlp.data.dataset_readers.dataset_utils.span_utils import (
    TypedStringSpan,
    bio_tags_to_spans,
    bioul_tags_to_spans,
    iob1_tags_to_spans,
)
from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

PREFIXES = {"BIO": "BI", "IOB1": "BI", "BIOUL": "BIUL"}
_TO_SPANS = {"BIO": bio_tags_to_spans, "IOB1": iob1_tags_to_spans, "BIOUL": bioul_tags_to_spans}


def tags_to_spans(tags: list[str], encoding: str) -> list[TypedStringSpan]:
    """Returns the type, and the first and the last word, of each entity of a sentence, from left to right."""
    return sorted(_TO_SPANS[encoding](tags), key=lambda span: span[1])


def spans_to_tags(spans: list[TypedStringSpan], length: int, encoding: str) -> list[str]:
    """Returns the tags, in "BIO" or "BIOUL", of a sentence of `length` words. Inverts `tags_to_spans`."""
    tags = ["O"] * length
    for entity_type, (first, last) in spans:
        tags[first : last + 1] = [f"I-{entity_type}"] * (last + 1 - first)
        tags[first] = f"B-{entity_type}"
        if encoding == "BIOUL":
            tags[last] = f"U-{entity_type}" if first == last else f"L-{entity_type}"
    return tags


def validate_tags(tags: list[str], encoding: str) -> tuple[int, str] | None:
    """
    Returns the word of the first tag that cannot be at its place, and the reason; `None` for legal tags.
    """
    tag_format = re.compile(rf"O|[{PREFIXES[encoding]}]-.+")
    last = ("START", "")
    for word, tag in enumerate(tags):
        if not tag_format.fullmatch(tag):
            return word, f"{tag!r} is not {'an' if encoding == 'IOB1' else 'a'} {encoding} tag"
        if not is_transition_allowed(encoding, *last, tag[0], tag[1:]):
            location = f"after {tags[word - 1]!r}" if word else "at the start of a sentence"
            return word, f"the tag {tag!r} cannot be {location} in {encoding}"
        last = (tag[0], tag[1:])
    if tags and not is_transition_allowed(encoding, *last, "END", ""):
        return len(tags) - 1, f"the tag {tags[-1]!r} cannot be at the end of a sentence in {encoding}"
    return None
