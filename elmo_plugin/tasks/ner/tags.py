"""Entity tags: the encodings of data sets, and the entities that they mark."""

import re
from collections.abc import Iterable, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

ENCODINGS = {"BIO": "BI", "IOB1": "BI", "BIOUL": "BIUL", "BIOES": "BIES", "BMES": "BMES", "BMEWO": "BMEW"}
"""The letters of each encoding that is checked."""
_BIOES = {"U": "S", "W": "S", "L": "E", "M": "I"}
_PREFIXED = re.compile(r"(?P<letter>[BIESULMW])(?:[-_](?P<kind>.+))?", re.IGNORECASE)
_SUFFIXED = re.compile(r"(?P<kind>.+)[-_](?P<letter>[BIESULMW])")

Span = tuple[str, tuple[int, int]]  # the type of an entity, its first and its last word


class Tag(NamedTuple):
    """A tag: its letter as written, the same in BIOES, and the type of its entity, "" if it has none."""

    letter: str
    bioes: str
    kind: str


OUTSIDE = Tag("O", "O", "")


def parse_tags(values: Set[str]) -> dict[str, Tag] | None:
    """
    Returns the meaning of tags such as "O", "B-PER", "b_per", "PER-B" or "B"; `None` if any means no entity,
    or only some have a type.
    """
    for pattern in (_PREFIXED, _SUFFIXED):
        tags: dict[str, Tag] = {}
        for value in values:
            if (tag := _parse(value, pattern)) is None:
                break
            tags[value] = tag
        have_types = {tag.kind != "" for tag in tags.values() if tag != OUTSIDE}
        if len(tags) == len(values) and len(have_types) < 2:
            return tags
    return None


def _parse(value: str, pattern: re.Pattern[str]) -> Tag | None:
    if value in ("O", "o"):
        return OUTSIDE
    match = pattern.fullmatch(value)
    if match is None or value in "biesulmw":
        return None
    letter = match["letter"].upper()
    return Tag(letter, _BIOES.get(letter, letter), match["kind"] or "")


def parse_tag(value: str) -> Tag | None:
    """Returns the meaning of a tag with its letter first, or `None`."""
    return _parse(value, _PREFIXED)


def looks_like_entities(values: Sequence[str]) -> bool:
    """Returns whether at least half of the tags of a column are those of entities, and one has a type."""
    tags = {value: parse_tag(value) for value in set(values)}
    return 2 * sum(tags[value] is not None for value in values) >= len(values) and any(
        tag.kind for tag in tags.values() if tag
    )


def find_encodings(sentences: Iterable[Sequence[str]], tags: dict[str, Tag]) -> list[str]:
    """Returns the encodings in which all sentences are legal."""
    pairs: set[tuple[str, str]] = set()
    for sentence in sentences:
        pairs.update(pairwise(["O", *sentence, "O"]))
    letters = {tag.letter for tag in tags.values()} - {"O"}
    parsed = [(tags.get(before, OUTSIDE), tags.get(tag, OUTSIDE)) for before, tag in pairs]
    return [
        encoding
        for encoding, known in ENCODINGS.items()
        if letters <= set(known) and all(_may_follow(encoding, *pair) for pair in parsed)
    ]


def find_mistake(values: Sequence[str], tags: dict[str, Tag], encoding: str) -> tuple[int, str] | None:
    """
    Returns the word of the first tag of a sentence that cannot be at its place, and the reason; `None` for
    legal tags.
    """
    before = OUTSIDE
    for word, value in enumerate(values):
        tag = tags.get(value)
        if tag is None or tag.letter not in "O" + ENCODINGS[encoding]:
            return word, f"{value!r} is not {'an' if encoding == 'IOB1' else 'a'} {encoding} tag"
        if not _may_follow(encoding, before, tag):
            location = f"after {values[word - 1]!r}" if word else "at the start of a sentence"
            return word, f"the tag {value!r} cannot be {location} in {encoding}"
        before = tag
    if not _may_follow(encoding, before, OUTSIDE):
        return len(values) - 1, f"the tag {values[-1]!r} cannot be at the end of a sentence in {encoding}"
    return None


def validate_tags(values: Sequence[str], encoding: str) -> tuple[int, str] | None:
    """Returns what `find_mistake` does, for tags with their letter first."""
    return find_mistake(values, {value: tag for value in values if (tag := parse_tag(value))}, encoding)


def _may_follow(encoding: str, before: Tag, tag: Tag) -> bool:
    """Returns whether a tag may follow another. The boundaries of a sentence are as words outside."""
    continues = before.bioes in ("B", "I") and before.kind == tag.kind
    if encoding == "BIO":
        return tag.bioes != "I" or continues
    if encoding == "IOB1":
        return tag.bioes != "B" or continues
    return (
        (continues and tag.bioes in ("I", "E")) if before.bioes in ("B", "I") else tag.bioes not in ("I", "E")
    )


def tags_to_spans(tags: Iterable[Tag | str]) -> list[Span]:
    """
    Returns the entities of a sentence, from left to right. All encodings are read alike: an entity goes on
    at each inner or last tag of its type, and whatever else is not outside begins one.
    """
    spans: list[Span] = []
    is_open = False
    for word, item in enumerate(tags):
        tag = item if isinstance(item, Tag) else parse_tag(item) or OUTSIDE
        if tag.bioes == "O":
            is_open = False
            continue
        if is_open and tag.bioes in ("I", "E") and spans[-1][0] == tag.kind:
            spans[-1] = (tag.kind, (spans[-1][1][0], word))
        else:
            spans.append((tag.kind, (word, word)))
        is_open = tag.bioes in ("B", "I")
    return spans


def spans_to_tags(spans: Iterable[Span], length: int, encoding: str) -> list[str]:
    """Returns the tags, in "BIO" or "BIOUL", of a sentence of `length` words. Inverts `tags_to_spans`."""
    tags = ["O"] * length
    for kind, (first, last) in spans:
        suffix = kind and f"-{kind}"
        tags[first : last + 1] = [f"I{suffix}"] * (last + 1 - first)
        tags[first] = f"B{suffix}"
        if encoding == "BIOUL":
            tags[last] = f"U{suffix}" if first == last else f"L{suffix}"
    return tags
