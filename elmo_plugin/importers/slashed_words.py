"""A sentence in each line, each word with its tag behind a slash, as the Brown corpus has them."""

from collections.abc import Iterator, Sequence
from itertools import chain

from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence, sentence_at

_MARKS = ("/", "|", "_")
_MIN_WORDS_PER_LINE = 2  # on average; lines of single words are no sentences


def has_tags_behind_marks(source: TaggedFile) -> bool:
    """Returns whether a mark, perhaps the chosen separator, stands between words and tags."""
    mark = _find_tag_mark(source.lines)
    return mark is not None and source.options.separator in (None, mark)


def _find_tag_mark(lines: Sequence[str]) -> str | None:
    """
    Returns the mark, such as a slash, that stands between each word and its tag in all lines.
    Returns `None` if no mark does, or if the lines are too short to be sentences.
    """
    sentences = [line.split() for line in lines if line.strip()]
    words = list(chain.from_iterable(sentences))
    if not words or len(words) < _MIN_WORDS_PER_LINE * len(sentences):
        return None
    for mark in _MARKS:
        if all(_has_tag(word, mark) for word in words):
            return mark
    return None


def _has_tag(item: str, mark: str) -> bool:
    """Returns whether an item is a word, a mark, and a tag."""
    word, _, tag = item.rpartition(mark)
    return bool(word and tag)


def slashed_sentences(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of lines such as `The/DT dog/NN sleeps/VBZ`. If all words have the same
    number of several tags, as in `Rome|NNP|B-LOC`, the last one counts.
    """
    mark = _find_tag_mark(source.lines)
    assert mark is not None  # `has_tags_behind_marks` has found it
    source.report.took(f"a sentence in each line, {mark!r} between a word and its tag")
    tags_per_word = 1  # in 1/2/CD, the first mark is part of the word
    counts = {item.count(mark) for line in source.lines for item in line.split()}
    if len(counts) == 1:
        tags_per_word = counts.pop()
    for number, line in enumerate(source.lines, start=1):
        words = []
        tags = []
        for item in line.split():
            fields = item.rsplit(mark, tags_per_word)
            words.append(fields[0])
            tags.append(fields[-1])
        if words:
            yield sentence_at(f"line {number}", words, tags)
