"""Tags of entities: which tags are such, in which encoding, and which may follow one another."""

from collections.abc import Collection, Iterable, Mapping

from allennlp.common.checks import ConfigurationError
from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

from elmo_plugin.common.errors import check_choice
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


def find_tag_encoding(tag_encoding: str | None, labels: Collection[str]) -> str:
    """
    Returns the encoding of a vocabulary's tags: "BIO", "BIOUL" or "plain". Raises
    `ConfigurationError` if `tag_encoding` is given and is another one.
    """
    if tag_encoding is not None:
        check_choice("tag_encoding", tag_encoding, ("BIO", "BIOUL", "plain"), ConfigurationError)
    if tag_encoding == "plain":
        return "plain"
    tags = parse_tags(labels)
    if tags is None:  # The labels do not mark entities.
        if tag_encoding is None:
            return "plain"
        raise ConfigurationError(
            f"ner_bilstm_crf: expected tags of entities, got {_first_plain_label(labels)!r}; "
            "metric='+accuracy' trains on tags of any kind (tag_encoding: 'plain')"
        )
    if all(tag == OUTSIDE for tag in tags.values()):
        # Without entities, the tags are the same in every encoding.
        if tag_encoding is None:
            return "plain"
        return tag_encoding
    encoding = _encoding_of_entities(tags)
    if tag_encoding is not None and tag_encoding != encoding:
        raise ConfigurationError(
            f"ner_bilstm_crf: tag_encoding is {tag_encoding}, but the dataset reader's is "
            f"{encoding}"
        )
    return encoding


def _encoding_of_entities(tags: Mapping[str, EntityTag]) -> str:
    """
    Returns the encoding of tags that mark entities, "BIO" or "BIOUL". Raises `ConfigurationError`
    if one of them has a letter of another encoding, such as S or E of BIOES.
    """
    letters = {tag.letter for tag in tags.values()}
    encoding = "BIO"
    if "L" in letters or "U" in letters:  # In BIOUL, every entity has one of them.
        encoding = "BIOUL"
    for label, tag in tags.items():
        if tag != OUTSIDE and tag.letter not in ENCODINGS[encoding]:
            raise ConfigurationError(
                "ner_bilstm_crf: expected tags in BIO or BIOUL from the dataset reader, got "
                f"{label!r}; metric='+accuracy' trains on tags of any kind (tag_encoding: 'plain')"
            )
    return encoding


def _first_plain_label(labels: Collection[str]) -> str:
    """
    Returns the first label that is no tag of an entity. If all of them are, returns the first one
    without a type: labels with and without types are mixed, so they mark no entities.
    """
    without_type = []
    for label in labels:
        tag = parse_tag(label)
        if tag is None:
            return label
        if tag != OUTSIDE and not tag.kind:
            without_type.append(label)
    return without_type[0]


def check_all_types_have_l(labels: Collection[str]) -> None:
    """
    Raises `ConfigurationError` if there is a tag such as B-PER without L-PER. In BIOUL, both are in
    the vocabulary, so new tags seem to be in BIO, beside the old ones in BIOUL.
    """
    for label in sorted(labels):
        if not label.startswith("B"):
            continue
        last_tag = "L" + label.removeprefix("B")
        if last_tag not in labels:
            raise ConfigurationError(
                f"ner_bilstm_crf: expected tags in BIOUL, as in training, but {label} has no "
                f"{last_tag}: the dataset reader's tag_encoding is another"
            )
