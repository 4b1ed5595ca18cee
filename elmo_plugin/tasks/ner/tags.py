"""Entity tags in a vocabulary: what they mean, and in which encoding they are."""

from collections.abc import Sequence, Set

from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

from elmo_plugin.tasks.spans import OUTSIDE, EntityTag, parse_tag

ENCODINGS = {"BIO": "BI", "IOB1": "BI", "BIOUL": "BIUL", "BIOES": "BIES", "BMES": "BMES"}
"""The letters of each encoding that is found."""


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
