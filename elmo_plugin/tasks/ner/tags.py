"""Entity tags: what each of them means, and the entities that they mark."""

import re
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

ENCODINGS = {"BIO": "BI", "IOB1": "BI", "BIOUL": "BIUL", "BIOES": "BIES", "BMES": "BMES"}
"""The letters of each encoding that is found."""
# The letters of the first, inner, last and only word of an entity.
_LETTERS = {"BIOUL": (*"BILU",), "BIOES": (*"BIES",), "BMES": (*"BMES",)}
_BIOUL = {"S": "U", "E": "L", "M": "I"}
_TAG = re.compile(r"([BIESULM])(?:[-_](\S+))?|(\S+)[-_]([BIESULM])", re.IGNORECASE)

Span = tuple[str, tuple[int, int]]  # the type of an entity, its first and its last word


class EntityTag(NamedTuple):
    """A tag: its letter as written, the same in BIOUL, and the type of its entity, "" if it has none."""

    letter: str
    bioul: str
    kind: str


OUTSIDE = EntityTag("O", "O", "")


def parse_tag(value: str) -> EntityTag | None:
    """Returns the meaning of a tag such as "O", "B-PER", "b_per", "PER-B" or "B", or `None`."""
    if value in ("O", "o"):
        return OUTSIDE
    match = _TAG.fullmatch(value)
    if match is None or value in "biesulm":
        return None
    letter, kind, kind_first, last_letter = match.groups()
    letter = (letter or last_letter).upper()
    return EntityTag(letter, _BIOUL.get(letter, letter), kind or kind_first or "")


def parse_tags(values: Set[str]) -> dict[str, EntityTag] | None:
    """Returns the meaning of tags; `None` if any means no entity, or only some have a type."""
    tags: dict[str, EntityTag] = {}
    for value in values:
        if (tag := parse_tag(value)) is None:
            return None
        tags[value] = tag
    return tags if len({tag.kind != "" for tag in tags.values() if tag != OUTSIDE}) < 2 else None


def looks_like_entities(values: Sequence[str]) -> bool:
    """Returns whether at least half of the tags of a column are those of entities, and one has a type."""
    tags = {value: parse_tag(value) for value in set(values)}
    return 2 * sum(tags[value] is not None for value in values) >= len(values) and any(
        tag.kind for tag in tags.values() if tag
    )


def is_legal(encoding: str, before: EntityTag, tag: EntityTag) -> bool:
    """Returns whether a tag may follow another. The boundaries of a sentence are as words outside."""
    if tag.letter not in "O" + ENCODINGS[encoding]:
        return False
    if encoding == "IOB1":
        return tag.letter != "B" or (before != OUTSIDE and before.kind == tag.kind)
    constraint = "BIO" if encoding == "BIO" else "BIOUL"
    return is_transition_allowed(constraint, before.bioul, before.kind, tag.bioul, tag.kind)


def tags_to_spans(tags: Iterable[EntityTag | str]) -> list[Span]:
    """
    Returns the entities of a sentence, from left to right. All encodings are read alike: an entity goes on
    at each inner or last tag of its type; every other tag but `O` starts a new one.
    """
    spans: list[Span] = []
    is_open = False
    for word, item in enumerate(tags):
        tag = item if isinstance(item, EntityTag) else parse_tag(item) or OUTSIDE
        if is_open and tag.bioul in ("I", "L") and spans[-1][0] == tag.kind:
            spans[-1] = (tag.kind, (spans[-1][1][0], word))
        elif tag.bioul != "O":
            spans.append((tag.kind, (word, word)))
        is_open = tag.bioul in ("B", "I")
    return spans


def spans_to_tags(spans: Iterable[Span], length: int, encoding: str) -> list[str]:
    """
    Returns the tags of a sentence of `length` words, in one of `ENCODINGS`, or types alone for "IO". Inverts
    `tags_to_spans`.
    """
    begin, inner, end, single = _LETTERS.get(encoding, ("B", "I", "I", "B"))
    tags = ["O"] * length
    for kind, (first, last) in spans:
        letters = [begin, *inner * (last - first - 1), end] if last > first else [single]
        if encoding == "IOB1" and not (first and tags[first - 1] != "O" and tags[first - 1][2:] == kind):
            letters[0] = "I"
        tags[first : last + 1] = [letter + (kind and f"-{kind}") for letter in letters]
        if encoding == "IO":
            tags[first : last + 1] = [kind] * (last + 1 - first)
    return tags
