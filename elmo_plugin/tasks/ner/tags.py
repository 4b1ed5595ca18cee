"""The encodings of the tags of entities, and which tags may follow one another in each."""

from collections.abc import Set

from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

from elmo_plugin.tasks.spans import OUTSIDE, EntityTag, parse_tag

ENCODINGS = {"BIO": "BI", "IOB1": "BI", "BIOUL": "BIUL", "BIOES": "BIES", "BMES": "BMES"}
"""The letters of each encoding."""


def parse_tags(values: Set[str]) -> dict[str, EntityTag] | None:
    """
    Returns the meaning of each tag, or `None` if these are no tags of entities: if one of them
    cannot be, or if only some of them have a type.
    """
    tags = {}
    for value in values:
        tag = parse_tag(value)
        if tag is None:
            return None
        tags[value] = tag
    of_entities = [tag for tag in tags.values() if tag != OUTSIDE]
    with_type = [tag for tag in of_entities if tag.kind]
    if with_type and len(with_type) < len(of_entities):
        return None
    return tags


def is_legal(encoding: str, before: EntityTag, tag: EntityTag) -> bool:
    """
    Returns whether a tag may follow another. The start and the end of a sentence count as `O`.
    """
    if tag.letter not in "O" + ENCODINGS[encoding]:
        return False
    if encoding == "IOB1":
        # B only separates an entity from one of the same kind right before it.
        follows_same_kind = before != OUTSIDE and before.kind == tag.kind
        return tag.letter != "B" or follows_same_kind
    constraint = "BIOUL"  # the other encodings have the same rules with other letters
    if encoding == "BIO":
        constraint = "BIO"
    return is_transition_allowed(constraint, before.bioul, before.kind, tag.bioul, tag.kind)
