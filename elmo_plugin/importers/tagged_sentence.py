"""A sentence whose words have tags."""

from collections.abc import Sequence
from typing import NamedTuple

from elmo_plugin.tasks.spans import parse_tag


class TaggedSentence(NamedTuple):
    """
    The words of a sentence and their tags.

    places: where each word stands in the file, such as "line 7"
    words, tags: a tag for each word
    document: the name of the sentence's document; empty if the file names no documents
    """

    places: Sequence[str]
    words: Sequence[str]
    tags: Sequence[str]
    document: str = ""


def sentence_at(
    place: str, words: Sequence[str], tags: Sequence[str], document: str = ""
) -> TaggedSentence:
    """Returns a sentence whose words all have the same place, such as their line."""
    return TaggedSentence([place] * len(words), words, tags, document)


def type_without_spaces(kind: str) -> str:
    """Returns a type with underscores for spaces, because spaces would separate columns."""
    return "_".join(kind.split())


def entity_types(tags: Sequence[str]) -> list[str]:
    """Returns the type of each entity of a sentence in BIO."""
    types = []
    for tag in tags:
        meaning = parse_tag(tag)
        if meaning is not None and meaning.letter == "B":
            types.append(meaning.kind or "without a type")
    return types
