"""Tags of words: the encoding of a file's tags, their meaning, and the entities that they mark."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

from elmo_plugin.tasks.spans import OUTSIDE, EntityTag, parse_tag

ENCODINGS = {"BIO": "BI", "IOB1": "BI", "BIOUL": "BIUL", "BIOES": "BIES", "BMES": "BMES"}
"""The letters of each encoding that is found."""
SOURCE_ENCODINGS = ("auto", *ENCODINGS, "IO", "mixed", "plain")
_WITH_LETTER = re.compile(r"[BIESULM]\W.*|.*\W[BIESULM]")


class TaggedSentence(NamedTuple):
    """
    The words of a sentence, with the number of the line of each, and their tags, if the file has
    some.
    """

    lines: list[int]
    words: list[str]
    tags: list[str]


def parse_tags(values: Set[str]) -> dict[str, EntityTag] | None:
    """Returns the meaning of tags; `None` if any means no entity, or only some have a type."""
    tags = {value: tag for value in values if (tag := parse_tag(value))}
    has_kind = {tag.kind != "" for tag in tags.values() if tag != OUTSIDE}
    return tags if len(tags) == len(values) and len(has_kind) < 2 else None


def looks_like_entities(values: Sequence[str]) -> bool:
    """Returns whether at least half of the tags of a column mark entities, and one has a type."""
    tags = {value: tag for value in set(values) if (tag := parse_tag(value))}
    return 2 * sum(value in tags for value in values) >= len(values) and any(
        t.kind for t in tags.values()
    )


def find_kind(tags: Sequence[str]) -> str:
    """
    Returns the kind of the tags of a file: "auto", with letters, or in doubt; "IO", the types of
    entities; or "plain". Most words are in no entity.
    """
    counts = Counter(tags)
    if parse_tags(counts.keys()) or looks_like_entities(tags):
        return "auto"
    if counts.most_common(1)[0][0] != "O":
        return "plain"
    return "auto" if any(map(_WITH_LETTER.fullmatch, counts)) else "IO"


def read_tags(
    file: str, sentences: Sequence[TaggedSentence], source: str
) -> tuple[dict[str, EntityTag] | None, str]:
    """
    Returns the meaning of each tag, `None` if they are plain, and a description of their encoding,
    by default that in which all are legal.

    Raises `ConfigurationError`, naming file and line, for the first tag that is not of the
    encoding.
    """
    pairs = {pair for sentence in sentences for pair in _pairs(sentence)}
    values = {tag for sentence in sentences for tag in sentence.tags}

    def line_of(wrong: Set[tuple[str, str]]) -> tuple[str, str, str]:
        """Returns the place of the first pair of tags that is wrong, and the pair."""
        for sentence in sentences:
            for word, pair in enumerate(_pairs(sentence)):
                if pair in wrong:
                    return (
                        f"{file}, line {sentence.lines[min(word, len(sentence.lines) - 1)]}",
                        *pair,
                    )
        raise AssertionError("a pair of tags is in a sentence")

    if source == "plain":
        return None, f"{len(values)} plain tags"
    if source == "IO":
        return {
            value: OUTSIDE if value == "O" else EntityTag("I", "I", value) for value in values
        }, source
    if (tags := parse_tags(values)) is None:
        no_type = {value for value in values if not (parse_tag(value) or OUTSIDE).kind} - {"O", "o"}
        place, _, tag = line_of({pair for pair in pairs if pair[1] in no_type})
        raise ConfigurationError(
            f"{place}: expected a tag such as O or B-PER, got {tag!r}; source_encoding: 'plain' "
            "takes any tags, and tag_column another column or a header"
        )
    meanings = {**tags, "O": OUTSIDE}
    illegal = {
        encoding: {
            pair for pair in pairs if not is_legal(encoding, *map(meanings.__getitem__, pair))
        }
        for encoding in ENCODINGS
    }
    found = [encoding for encoding in ENCODINGS if not illegal[encoding]]
    if source == "auto" and found:
        return tags, " or ".join(found) if values - {"O"} else "no entities"
    if source == "mixed" or source in found:
        return tags, source
    if source == "auto":
        letters = {tag.letter for tag in tags.values()} - {"O"}
        source = min(
            ENCODINGS, key=lambda name: (not letters <= set(ENCODINGS[name]), len(illegal[name]))
        )
    place, before, tag = line_of(illegal[source])
    raise ConfigurationError(
        f"{place}: expected tags in {source}, got {tag!r} after {before!r}; "
        f"source_encoding: {[*found, 'mixed'][0]!r} reads this file"
    )


def _pairs(sentence: TaggedSentence) -> Iterator[tuple[str, str]]:
    """Yields each tag with the one before it; the boundaries are as words outside."""
    return pairwise(["O", *sentence.tags, "O"])


def is_legal(encoding: str, before: EntityTag, tag: EntityTag) -> bool:
    """
    Returns whether a tag may follow another. The boundaries of a sentence are as words outside.
    """
    if tag.letter not in "O" + ENCODINGS[encoding]:
        return False
    if encoding == "IOB1":
        return tag.letter != "B" or (before != OUTSIDE and before.kind == tag.kind)
    constraint = "BIO" if encoding == "BIO" else "BIOUL"
    return is_transition_allowed(constraint, before.bioul, before.kind, tag.bioul, tag.kind)
