"""The encoding of the tags of a file, and its tags in BIO."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.ner.tags import ENCODINGS, is_legal, parse_tags
from elmo_plugin.tasks.spans import OUTSIDE, EntityTag, parse_tag, spans_to_tags, tags_to_spans

IO, MIXED, PLAIN = "IO", "mixed", "plain"
CHOICES = (*ENCODINGS, IO, MIXED, PLAIN)
OUTSIDE_MARKS = ("O", "o", "", "-", "_", "0", "*")
"""What people write at a word that is in no entity."""
_LEAST_OUTSIDE = 0.25  # of words with the types of entities; a part of speech may be O too
_WITH_LETTER = re.compile(r"[BIESULM]\W.*|.*\W[BIESULM]")


def looks_like_entities(values: Sequence[str]) -> bool:
    """Returns whether at least half of the tags of a column mark entities, and one has a type."""
    number = 0
    has_type = False
    for value in values:
        tag = parse_tag(value)
        if tag is not None:
            number += 1
            has_type = has_type or tag.kind != ""
    return has_type and 2 * number >= len(values)


def with_usual_outside(sentences: Sequence[TaggedSentence]) -> list[TaggedSentence]:
    """Returns the sentences with O in place of the other marks of words that are in no entity."""
    changed = []
    for sentence in sentences:
        tags = ["O" if tag in OUTSIDE_MARKS else tag for tag in sentence.tags]
        changed.append(sentence._replace(tags=tags))
    return changed


def outside_tag(tags: Sequence[str]) -> str:
    """
    Returns the tag of the words in no entity, if the others have types without a letter: O, or
    instead of it a tag that more than half of the words have, such as `none`.
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
    Returns which tags without a letter such as B or I these are: `IO` if they are types of entities
    and O, and `PLAIN` if they mark no entities, as parts of speech do, with few or none that are O.
    Returns `None` for tags with letters, or if some may have one.
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
    values = {tag for sentence in sentences for tag in sentence.tags}
    if encoding == IO:
        outside = outside_tag([tag for sentence in sentences for tag in sentence.tags])
        meanings = {value: EntityTag(letter="I", bioul="I", kind=value) for value in values}
        meanings[outside] = OUTSIDE
        found = IO
        if outside != "O":
            found += f", {outside!r} at words in no entity"
    else:
        meanings = _meanings(file, sentences, values)
        found = _legal_encoding(file, sentences, meanings, encoding)
    if values == {"O"}:
        found = "no entities"
    converted = []
    for sentence in sentences:
        spans = tags_to_spans([meanings[tag] for tag in sentence.tags])
        tags = spans_to_tags(spans, len(sentence.tags), "BIO")
        converted.append(sentence._replace(tags=tags))
    return converted, found


def _meanings(
    file: str, sentences: Sequence[TaggedSentence], values: Set[str]
) -> dict[str, EntityTag]:
    """
    Returns the meaning of each tag, and of O. Raises `ConfigurationError`, naming file and line,
    for the first tag that is not O, nor a letter and a type.
    """
    tags = parse_tags(values)
    if tags is not None:
        return tags | {"O": OUTSIDE}
    # Some tags mean nothing, or are letters without a type beside others with one.
    for sentence in sentences:
        for place, value in zip(sentence.places, sentence.tags, strict=True):
            tag = parse_tag(value)
            if tag is None or (tag != OUTSIDE and not tag.kind):
                raise ConfigurationError(
                    f"{file}, {place}: expected a tag such as O or B-PER, got {value!r}; --tags IO "
                    "takes types without a letter, --column tag=NAME another column, and `elmo "
                    "import tag` tags of any kind"
                )
    raise AssertionError("one of the sentences has the tag that means nothing")


def _legal_encoding(
    file: str,
    sentences: Sequence[TaggedSentence],
    meanings: dict[str, EntityTag],
    chosen: str | None,
) -> str:
    """
    Returns the chosen encoding, or those in which all tags are legal. Raises `ConfigurationError`,
    naming file and line, if a tag is illegal in the chosen one, or in every encoding.
    """
    if chosen == MIXED:
        return MIXED
    illegal = _illegal_pairs(sentences, meanings)
    legal = [encoding for encoding in ENCODINGS if not illegal[encoding]]
    if chosen is None and legal:
        return " or ".join(legal)
    if chosen in legal:
        return str(chosen)
    if chosen is None:  # the error names the encoding that fits best
        letters = {tag.letter for tag in meanings.values()} - {"O"}
        with_letters = [name for name in ENCODINGS if letters <= set(ENCODINGS[name])]
        chosen = min(with_letters or list(ENCODINGS), key=lambda name: len(illegal[name]))
    readable_as = MIXED
    if legal:
        readable_as = legal[0]
    wrong = _first_wrong_tag(sentences, illegal[chosen])
    raise ConfigurationError(
        f"{file}, {wrong.place}: expected tags in {chosen}, got {wrong.tag!r} after "
        f"{wrong.before!r}; --tags {readable_as} reads this file"
    )


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
                # The pair of the last tag and the end of the sentence is at the last word.
                last = len(sentence.places) - 1
                before, tag = pair
                return _WrongTag(sentence.places[min(number, last)], before, tag)
    raise AssertionError("one of the sentences has the pair of tags that is wrong")


def _pairs(sentence: TaggedSentence) -> Iterator[tuple[str, str]]:
    """Yields each tag with the one before it. The sentence's ends count as words with the tag O."""
    return pairwise(["O", *sentence.tags, "O"])
