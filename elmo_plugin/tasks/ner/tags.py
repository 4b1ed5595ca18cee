"""Tags of entities: whether tags are such, and which may follow one another in an encoding."""

from collections.abc import Iterable

from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

from elmo_plugin.tasks.spans import ENCODINGS, OUTSIDE, EntityTag, parse_tag


def parse_tags(values: Iterable[str]) -> dict[str, EntityTag] | None:
    """
    Parses the different tags of a data set. Returns `None` if they do not mark entities: if one of
    them does not have the form of such a tag, or if some have a type and others have none.
    """
    tags = {}
    for value in values:
        tag = parse_tag(value)
        if tag is None:
            return None
        tags[value] = tag
    inside_tags = [tag for tag in tags.values() if tag != OUTSIDE]
    with_type = [tag for tag in inside_tags if tag.kind]
    if with_type and len(with_type) < len(inside_tags):
        return None
    return tags


def is_legal(encoding: str, before: EntityTag, tag: EntityTag) -> bool:
    """
    Returns whether a tag may follow the tag `before` it in an encoding. The start and the end of a
    sentence count as `O`.
    """
    if tag != OUTSIDE and tag.letter not in ENCODINGS[encoding]:
        return False
    if encoding == "IOB1":
        # Every tag may follow every other, except that B only separates two entities of one kind.
        follows_same_kind = before != OUTSIDE and before.kind == tag.kind
        return tag.letter != "B" or follows_same_kind
    # BIOES and BMES are BIOUL with other letters. `EntityTag.bioul` translates them.
    constraint = "BIOUL"
    if encoding == "BIO":
        constraint = "BIO"
    return is_transition_allowed(constraint, before.bioul, before.kind, tag.bioul, tag.kind)
