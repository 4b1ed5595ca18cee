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
_SPANS_OF = {"BIO": bio_tags_to_spans, "IOB1": iob1_tags_to_spans, "BIOUL": bioul_tags_to_spans}


def tags_to_spans(tags: list[str], encoding: str) -> list[TypedStringSpan]:
    """
    # Parameters

    tags : `list[str]`
        The tags of a sentence.
    encoding : `str`
        "BIO", "IOB1" or "BIOUL".

    # Returns

    `list[tuple[str, tuple[int, int]]]`
        The type, first and last word of each entity, from left to right.
    """
    return sorted(_SPANS_OF[encoding](tags), key=lambda span: span[1])


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
    Finds the first tag that cannot be where it is.

    # Returns

    `tuple[int, str] | None`
        The word that it belongs to, and what is wrong; `None` where all is well.
    """
    tag_format = re.compile(rf"O|[{PREFIXES[encoding]}]-.+")
    before = ("START", "")
    for word, tag in enumerate(tags):
        if not tag_format.fullmatch(tag):
            return word, f"{tag!r} is not {'an' if encoding == 'IOB1' else 'a'} {encoding} tag"
        if not is_transition_allowed(encoding, *before, tag[0], tag[1:]):
            location = f"after {tags[word - 1]!r}" if word else "at the start of a sentence"
            return word, f"the tag {tag!r} cannot be {location} in {encoding}"
        before = (tag[0], tag[1:])
    if tags and not is_transition_allowed(encoding, *before, "END", ""):
        return len(tags) - 1, f"the tag {tags[-1]!r} cannot be at the end of a sentence in {encoding}"
    return None
