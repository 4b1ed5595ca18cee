"""A sentence in each line, each word with its tag behind a slash, as the Brown corpus has them."""

import re
from collections.abc import Iterator, Sequence

from elmo_plugin.importers.tagged_sentence import TaggedSentence

_MARKS = ("/", "|", "_")
_WORD_AND_TAG = {
    mark: re.compile(rf"(.+){re.escape(mark)}([^{re.escape(mark)}\s]+)") for mark in _MARKS
}
_FEWEST_WORDS = 2  # of a line, in the mean


def find_mark(lines: Sequence[str]) -> str | None:
    """Returns the mark between word and tag if every word of all lines has one."""
    filled = [line.split() for line in lines if line.strip()]
    words = [word for line in filled for word in line]
    if not filled or len(words) < _FEWEST_WORDS * len(filled):
        return None
    for mark in _MARKS:
        if all(map(_WORD_AND_TAG[mark].fullmatch, words)):
            return mark
    return None


def slashed_sentences(lines: Sequence[str], mark: str) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of lines such as `The/DT dog/NN sleeps/VBZ`. If each word has several tags,
    as in `Rome|NNP|B-LOC`, the last one counts.
    """
    lengths = {len(item.split(mark)) for line in lines for item in line.split()}
    most_marks = 1
    if len(lengths) == 1:
        most_marks = lengths.pop() - 1
    for number, line in enumerate(lines, start=1):
        parts = [item.rsplit(mark, most_marks) for item in line.split()]
        if parts:
            words = [fields[0] for fields in parts]
            tags = [fields[-1] for fields in parts]
            yield TaggedSentence([f"line {number}"] * len(words), words, tags)
