"""The encoding of the tags of a file, found from all of them."""

from collections.abc import Sequence
from typing import NoReturn

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.ner.sentences import TaggedSentence
from elmo_plugin.tasks.ner.tags import (
    ENCODINGS,
    OUTSIDE,
    Tag,
    find_encodings,
    find_mistake,
    looks_like_entities,
    parse_tag,
    parse_tags,
)

SOURCE_ENCODINGS = ("auto", *ENCODINGS, "IO", "mixed", "plain")


def read_tags(
    file: str, sentences: Sequence[TaggedSentence], source: str, are_plain: bool | None = None
) -> tuple[dict[str, Tag] | None, str]:
    """
    Returns the meaning of each tag, `None` if they are plain, and a description of their encoding, by default
    that in which all are legal. `are_plain` says whether those of other files of a data set are.

    Raises `ConfigurationError`, naming file and line, for the first tag that is not of the encoding.
    """
    values = {tag for sentence in sentences for tag in sentence.tags}
    if source == "IO":
        return {value: OUTSIDE if value == "O" else Tag("I", "I", value) for value in values}, source
    tags = parse_tags(values)
    if source == "auto" and are_plain is None:
        are_plain = not tags and not looks_like_entities([tag for each in sentences for tag in each.tags])
    if are_plain and any("(" in value and "*" in value for value in values):
        line = next(each for each in sentences if any("*" in tag for tag in each.tags)).lines[0]
        raise ConfigurationError(
            f"{file}, line {line}: spans in brackets are not read; source_encoding: 'plain' takes any tags"
        )
    if source == "plain" or (source == "auto" and are_plain):
        return None, f"{len(values)} plain tags"
    if tags is None:
        _raise_not_an_entity(file, sentences, values)
    if source == "mixed":
        return tags, source
    found = find_encodings((sentence.tags for sentence in sentences), tags)
    if source == "auto" and found:
        return tags, " or ".join(found) if values - {"O"} else "no entities"
    if source not in found:
        _raise_illegal(file, sentences, tags, source, found)
    return tags, source


def _raise_not_an_entity(file: str, sentences: Sequence[TaggedSentence], values: set[str]) -> NoReturn:
    """Raises the error for the first tag that marks no entity, or the first of them without a type."""
    wrong = {value for value in values if parse_tag(value) is None}
    wrong = wrong or {value for value in values if not (parse_tag(value) or OUTSIDE).kind} - {"O", "o"}
    line, tag = next(
        pair for each in sentences for pair in zip(each.lines, each.tags, strict=True) if pair[1] in wrong
    )
    raise ConfigurationError(
        f"{file}, line {line}: expected a tag such as O or B-PER, got {tag!r}; source_encoding: 'plain' takes"
        f" any tags, and tag_column {'a header' if line == sentences[0].lines[0] else 'another column'}"
    )


def _raise_illegal(
    file: str, sentences: Sequence[TaggedSentence], tags: dict[str, Tag], source: str, found: Sequence[str]
) -> NoReturn:
    """Raises the error for the first illegal tag, in the encoding with the fewest by default."""
    letters = {tag.letter for tag in tags.values()} - {"O"}
    complete = [encoding for encoding, known in ENCODINGS.items() if letters <= set(known)]
    mistakes = {
        encoding: [
            (sentence.lines[mistake[0]], mistake[1])
            for sentence in sentences
            if (mistake := find_mistake(sentence.tags, tags, encoding))
        ]
        for encoding in ((complete or ENCODINGS) if source == "auto" else [source])
    }
    line, message = min(mistakes.values(), key=len)[0]
    advice = found[0] if found else "mixed"
    raise ConfigurationError(f"{file}, line {line}: {message}; source_encoding: {advice!r} reads this file")
