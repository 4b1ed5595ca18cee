"""The encoding of the tags of a file, found from all of them."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.ner.sentences import TaggedSentence
from elmo_plugin.tasks.ner.tags import ENCODINGS, is_legal, looks_like_entities, parse_tags
from elmo_plugin.tasks.spans import OUTSIDE, EntityTag, parse_tag

SOURCE_ENCODINGS = ("auto", *ENCODINGS, "IO", "mixed", "plain")
_WITH_LETTER = re.compile(r"[BIESULM]\W.*|.*\W[BIESULM]")


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
) -> tuple[dict[str, EntityTag] | None, str]:
    """
    Returns the meaning of each tag, `None` if they are plain, and a description of their encoding, by default
    that in which all are legal.

    Raises `ConfigurationError`, naming file and line, for the first tag that is not of the encoding.
    """
    values = {tag for sentence in sentences for tag in sentence.tags}
    if source == "plain":
        return None, f"{len(values)} plain tags"
    if source == "IO":
        return {value: OUTSIDE if value == "O" else EntityTag("I", "I", value) for value in values}, source
    tags = parse_tags(values)
    if tags is None:
        tagged = ((line, tag) for each in sentences for line, tag in zip(each.lines, each.tags, strict=True))
        line, tag = next(
            (line, tag)
            for line, tag in tagged
            if not (parse_tag(tag) or EntityTag("", "", "")).kind and tag not in ("O", "o")
        )
        raise ConfigurationError(
            f"{file}, line {line}: expected a tag such as O or B-PER, got {tag!r}; source_encoding: 'plain' "
            "takes any tags, and tag_column another column or a header"
        )
    pairs = {pair for each in sentences for pair in pairwise(["O", *each.tags, "O"])}
    illegal = {
        encoding: {
            pair for pair in pairs if not is_legal(encoding, *(tags.get(tag, OUTSIDE) for tag in pair))
        }
        for encoding in ENCODINGS
    }
    found = [encoding for encoding in ENCODINGS if not illegal[encoding]]
    if source == "auto" and found:
        return tags, " or ".join(found) if values - {"O"} else "no entities"
    if source == "mixed" or source in found:
        return tags, source
    encoding = source
    if source == "auto":
        letters = {tag.letter for tag in tags.values()} - {"O"}
        encoding = min(ENCODINGS, key=lambda name: (not letters <= set(ENCODINGS[name]), len(illegal[name])))
    for lines, _, labels in sentences:
        for line, (before, tag) in zip([*lines, lines[-1]], pairwise(["O", *labels, "O"]), strict=True):
            if (before, tag) in illegal[encoding]:
                raise ConfigurationError(
                    f"{file}, line {line}: expected tags in {encoding}, got {tag!r} after {before!r}; "
                    f"source_encoding: {[*found, 'mixed'][0]!r} reads this file"
                )
    raise AssertionError("an illegal tag is in a sentence")
