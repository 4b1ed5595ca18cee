"""Tags of words: the encoding of a file's tags, what each of them means, and the entities that they mark."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

ENCODINGS = {"BIO": "BI", "IOB1": "BI", "BIOUL": "BIUL", "BIOES": "BIES", "BMES": "BMES"}
"""The letters of each encoding that is found."""
SOURCE_ENCODINGS = ("auto", *ENCODINGS, "IO", "mixed", "plain")
# The letters of the first, inner, last and only word of an entity.
_LETTERS = {"BIOUL": (*"BILU",), "BIOES": (*"BIES",), "BMES": (*"BMES",)}
_BIOUL = {"S": "U", "E": "L", "M": "I"}
_TAG = re.compile(r"([BIESULM])(?:[-_](\S+))?|(\S+)[-_]([BIESULM])", re.IGNORECASE)
_WITH_LETTER = re.compile(r"[BIESULM]\W.*|.*\W[BIESULM]")

Span = tuple[str, tuple[int, int]]  # the type of an entity, its first and its last word


class TaggedSentence(NamedTuple):
    """The words of a sentence, with the number of the line of each, and their tags, if the file has some."""

    lines: list[int]
    words: list[str]
    tags: list[str]


class Tag(NamedTuple):
    """A tag: its letter as written, the same in BIOUL, and the type of its entity, "" if it has none."""

    letter: str
    bioul: str
    kind: str


OUTSIDE = Tag("O", "O", "")


def parse_tag(value: str) -> Tag | None:
    """Returns the meaning of a tag such as "O", "B-PER", "b_per", "PER-B" or "B", or `None`."""
    if value in ("O", "o"):
        return OUTSIDE
    match = _TAG.fullmatch(value)
    if match is None or value in "biesulm":
        return None
    letter, kind, kind_first, last_letter = match.groups()
    letter = (letter or last_letter).upper()
    return Tag(letter, _BIOUL.get(letter, letter), kind or kind_first or "")


def parse_tags(values: Set[str]) -> dict[str, Tag] | None:
    """Returns the meaning of tags; `None` if any means no entity, or only some have a type."""
    tags = {value: tag for value in values if (tag := parse_tag(value))}
    has_kind = {tag.kind != "" for tag in tags.values() if tag != OUTSIDE}
    return tags if len(tags) == len(values) and len(has_kind) < 2 else None


def looks_like_entities(values: Sequence[str]) -> bool:
    """Returns whether at least half of the tags of a column are those of entities, and one has a type."""
    tags = {value: tag for value in set(values) if (tag := parse_tag(value))}
    return 2 * sum(value in tags for value in values) >= len(values) and any(t.kind for t in tags.values())


def find_kind(tags: Sequence[str]) -> str:
    """
    Returns what the tags of a file are: "auto", with letters, or in doubt; "IO", the types of entities; or
    "plain". Most words are in no entity.
    """
    counts = Counter(tags)
    if parse_tags(counts.keys()) or looks_like_entities(tags):
        return "auto"
    if counts.most_common(1)[0][0] != "O":
        return "plain"
    return "auto" if any(map(_WITH_LETTER.fullmatch, counts)) else "IO"


def read_tags(
    file: str, sentences: Sequence[TaggedSentence], source: str
) -> tuple[dict[str, Tag] | None, str]:
    """
    Returns the meaning of each tag, `None` if they are plain, and a description of their encoding, by default
    that in which all are legal.

    Raises `ConfigurationError`, naming file and line, for the first tag that is not of the encoding.
    """
    labels = [["O", *sentence.tags, "O"] for sentence in sentences]
    pairs = {pair for tags in labels for pair in pairwise(tags)}
    values = {tag for sentence in sentences for tag in sentence.tags}

    def line_of(wrong: Set[tuple[str, str]]) -> tuple[str, str, str]:
        """Returns the place of the first pair of tags that is wrong, and the pair."""
        for sentence, tags in zip(sentences, labels, strict=True):
            for word, pair in enumerate(pairwise(tags)):
                if pair in wrong:
                    return f"{file}, line {sentence.lines[min(word, len(sentence.lines) - 1)]}", *pair
        raise AssertionError("a pair of tags is in a sentence")

    if source == "plain":
        return None, f"{len(values)} plain tags"
    if source == "IO":
        return {value: OUTSIDE if value == "O" else Tag("I", "I", value) for value in values}, source
    if (tags := parse_tags(values)) is None:
        no_type = {value for value in values if not (parse_tag(value) or OUTSIDE).kind} - {"O", "o"}
        place, _, tag = line_of({pair for pair in pairs if pair[1] in no_type})
        raise ConfigurationError(
            f"{place}: expected a tag such as O or B-PER, got {tag!r}; source_encoding: 'plain' "
            "takes any tags, and tag_column another column or a header"
        )
    meanings = {**tags, "O": OUTSIDE}
    illegal = {
        encoding: {pair for pair in pairs if not is_legal(encoding, *map(meanings.__getitem__, pair))}
        for encoding in ENCODINGS
    }
    found = [encoding for encoding in ENCODINGS if not illegal[encoding]]
    if source == "auto" and found:
        return tags, " or ".join(found) if values - {"O"} else "no entities"
    if source == "mixed" or source in found:
        return tags, source
    if source == "auto":
        letters = {tag.letter for tag in tags.values()} - {"O"}
        source = min(ENCODINGS, key=lambda name: (not letters <= set(ENCODINGS[name]), len(illegal[name])))
    place, before, tag = line_of(illegal[source])
    raise ConfigurationError(
        f"{place}: expected tags in {source}, got {tag!r} after {before!r}; "
        f"source_encoding: {[*found, 'mixed'][0]!r} reads this file"
    )


def is_legal(encoding: str, before: Tag, tag: Tag) -> bool:
    """Returns whether a tag may follow another. The boundaries of a sentence are as words outside."""
    if tag.letter not in "O" + ENCODINGS[encoding]:
        return False
    if encoding == "IOB1":
        return tag.letter != "B" or (before != OUTSIDE and before.kind == tag.kind)
    constraint = "BIO" if encoding == "BIO" else "BIOUL"
    return is_transition_allowed(constraint, before.bioul, before.kind, tag.bioul, tag.kind)


def tags_to_spans(tags: Iterable[Tag | str]) -> list[Span]:
    """
    Returns the entities of a sentence, from left to right. All encodings are read alike: an entity goes on
    at each inner or last tag of its type; every other tag but `O` starts a new one.
    """
    spans: list[Span] = []
    is_open = False
    for word, item in enumerate(tags):
        tag = item if isinstance(item, Tag) else parse_tag(item) or OUTSIDE
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
