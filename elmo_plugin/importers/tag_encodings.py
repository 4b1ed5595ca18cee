"""The encoding of the tags of a file, and its tags in BIO."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.ner.tags import is_legal, parse_tags
from elmo_plugin.tasks.spans import (
    ENCODINGS,
    OUTSIDE,
    EntityTag,
    parse_tag,
    spans_to_tags,
    tags_to_spans,
)

IO, MIXED, PLAIN = "IO", "mixed", "plain"
CHOICES = (*ENCODINGS, IO, MIXED, PLAIN)
OUTSIDE_MARKS = ("O", "o", "", "-", "_", "0", "*")
"""What people write at a word that is in no entity."""
_LEAST_OUTSIDE = 0.25  # of words with the types of entities; a part of speech may be O too
_WITH_LETTER = re.compile(r"[BIESULM]\W.*|.*\W[BIESULM]")


def looks_like_entities(values: Sequence[str]) -> bool:
    """
    Returns whether at least half of the values of a column are tags of entities, such as O or
    B-PER, and one of them has a type.
    """
    tags = [parse_tag(value) for value in values]
    tags_of_entities = [tag for tag in tags if tag is not None]
    has_type = any(tag.kind for tag in tags_of_entities)
    return has_type and 2 * len(tags_of_entities) >= len(values)


def with_usual_outside(sentences: Sequence[TaggedSentence]) -> list[TaggedSentence]:
    """Returns the sentences with O in place of any other mark of a word that is in no entity."""
    changed = []
    for sentence in sentences:
        tags = ["O" if tag in OUTSIDE_MARKS else tag for tag in sentence.tags]
        changed.append(sentence._replace(tags=tags))
    return changed


def outside_tag(tags: Sequence[str]) -> str:
    """
    Returns the tag of the words in no entity, among tags that are types without a letter such as B.
    It is O, or, in a file without O, a tag that more than half of the words have, such as `none`.
    """
    counts = Counter(tags)
    most_usual, number = counts.most_common(1)[0]
    if "O" in counts or 2 * number <= len(tags):
        return "O"
    if len(counts) == 1:
        return "O"  # all words are in entities of the only type
    return most_usual


def kind_without_letters(tags: Sequence[str]) -> str | None:
    """
    Returns the kind of tags that have no letter such as B or I: `IO` if they are types of entities
    and O, or `PLAIN` if they mark no entities, as parts of speech do. Of plain tags, few or none
    are O. Returns `None` if tags have letters, or if some may have one.
    """
    counts = Counter(tags)
    if parse_tags(counts.keys()) or looks_like_entities(tags):
        return None
    if counts["O"] < _LEAST_OUTSIDE * len(tags):
        return PLAIN
    if any(_WITH_LETTER.fullmatch(tag) for tag in counts):
        return None
    return IO


def to_bio(
    file: str, sentences: Sequence[TaggedSentence], encoding: str | None
) -> tuple[list[TaggedSentence], str]:
    """
    Returns sentences with tags in BIO, and a description of the encoding that they had: the chosen
    one, or one in which all tags are legal.

    Raises `ConfigurationError`, naming file and line, for the first tag that is not of the
    encoding.
    """
    all_tags = [tag for sentence in sentences for tag in sentence.tags]
    if encoding == IO:
        outside = outside_tag(all_tags)
        meanings = _meanings_in_io(all_tags, outside)
        description = IO
        if outside != "O":
            description = f"{IO}, {outside!r} at words in no entity"
    else:
        meanings = _meanings(file, sentences)
        description = _legal_encoding(file, sentences, meanings, encoding)
    if set(all_tags) == {"O"}:
        description = "no entities"  # the file shows no encoding
    converted = []
    for sentence in sentences:
        spans = tags_to_spans([meanings[tag] for tag in sentence.tags])
        tags = spans_to_tags(spans, len(sentence.tags), "BIO")
        converted.append(sentence._replace(tags=tags))
    return converted, description


def _meanings_in_io(tags: Sequence[str], outside: str) -> dict[str, EntityTag]:
    """Returns the meaning of each tag: a type of entities, or `outside` at words in no entity."""
    meanings = {}
    for tag in tags:
        meanings[tag] = EntityTag(letter="I", kind=tag)
    meanings[outside] = OUTSIDE
    return meanings


def _meanings(file: str, sentences: Sequence[TaggedSentence]) -> dict[str, EntityTag]:
    """
    Returns the meaning of each tag, and of O. Raises `ConfigurationError`, naming file and line,
    for the first tag that is neither O nor a letter with a type.
    """
    meanings = parse_tags({tag for sentence in sentences for tag in sentence.tags})
    if meanings is not None:
        return meanings | {"O": OUTSIDE}
    # Some tag is not a tag of entities, or is a letter alone although others have a type.
    for sentence in sentences:
        for place, value in zip(sentence.places, sentence.tags, strict=True):
            tag = parse_tag(value)
            if tag is None or (tag != OUTSIDE and not tag.kind):
                raise ConfigurationError(
                    f"{file}, {place}: expected a tag such as O or B-PER, got {value!r}; --tags IO "
                    "takes types without a letter, --column tag=NAME another column, and `elmo "
                    "import tag` tags of any kind"
                )
    raise AssertionError("`parse_tags` returns `None` only if there is such a tag")


def _legal_encoding(
    file: str,
    sentences: Sequence[TaggedSentence],
    meanings: dict[str, EntityTag],
    chosen: str | None,
) -> str:
    """
    Returns the chosen encoding, or all encodings in which all tags are legal. Raises
    `ConfigurationError`, naming file and line, if a tag is illegal in the chosen encoding, or if
    none is chosen and no encoding allows all tags.
    """
    if chosen == MIXED:
        return MIXED
    illegal = _illegal_pairs(sentences, meanings)
    legal = [encoding for encoding in ENCODINGS if not illegal[encoding]]
    if chosen is None:
        if legal:
            return " or ".join(legal)
        expected = _likely_encoding(meanings, illegal)
    else:
        if chosen in legal:
            return chosen
        expected = chosen
    readable_as = MIXED
    if legal:
        readable_as = legal[0]
    wrong = _first_wrong_tag(sentences, illegal[expected])
    raise ConfigurationError(
        f"{file}, {wrong.place}: expected tags in {expected}, got {wrong.tag!r} after "
        f"{wrong.before!r}; --tags {readable_as} reads this file"
    )


def _likely_encoding(
    meanings: dict[str, EntityTag], illegal: dict[str, set[tuple[str, str]]]
) -> str:
    """
    Returns the encoding that was probably meant, if tags are illegal in all encodings. It has all
    letters of the tags, if any encoding does, and the fewest illegal pairs of tags.
    """
    letters = {tag.letter for tag in meanings.values()} - {"O"}
    candidates = [name for name in ENCODINGS if letters <= set(ENCODINGS[name])]
    if not candidates:
        candidates = list(ENCODINGS)
    return min(candidates, key=lambda name: len(illegal[name]))


def _illegal_pairs(
    sentences: Sequence[TaggedSentence], meanings: dict[str, EntityTag]
) -> dict[str, set[tuple[str, str]]]:
    """Returns, for each encoding, the pairs of successive tags that it does not allow."""
    pairs: set[tuple[str, str]] = set()
    for sentence in sentences:
        pairs.update(_pairs(sentence))
    illegal: dict[str, set[tuple[str, str]]] = {}
    for encoding in ENCODINGS:
        illegal[encoding] = set()
        for before, tag in pairs:
            if not is_legal(encoding, meanings[before], meanings[tag]):
                illegal[encoding].add((before, tag))
    return illegal


class _WrongTag(NamedTuple):
    """A tag that may not follow the one before it."""

    place: str
    before: str
    tag: str


def _first_wrong_tag(sentences: Sequence[TaggedSentence], wrong: Set[tuple[str, str]]) -> _WrongTag:
    """Returns the first pair of successive tags that is among the wrong ones."""
    for sentence in sentences:
        for number, pair in enumerate(_pairs(sentence)):
            if pair in wrong:
                before, tag = pair
                # The last pair is the last tag and the end of the sentence. Its place is the last
                # word's.
                last_word = len(sentence.places) - 1
                place = sentence.places[min(number, last_word)]
                return _WrongTag(place, before, tag)
    raise AssertionError("the wrong pairs were found in these sentences")


def _pairs(sentence: TaggedSentence) -> Iterator[tuple[str, str]]:
    """Yields each tag with the one before it. The sentence's ends count as words with the tag O."""
    return pairwise(["O", *sentence.tags, "O"])
