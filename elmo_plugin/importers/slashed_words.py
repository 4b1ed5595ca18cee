"""A sentence in each line, each word with its tag behind a slash, as the Brown corpus has them."""

from collections.abc import Iterator, Sequence

from elmo_plugin.importers.tagged_sentence import TaggedSentence

_MARKS = ("/", "|", "_")
_FEWEST_WORDS = 2  # of a line, in the mean


def find_mark(lines: Sequence[str]) -> str | None:
    """
    Returns the mark that every word of all lines has between itself and its tag, or `None`. Lines
    of single words are no sentences.
    """
    filled = [line.split() for line in lines if line.strip()]
    words = [word for line in filled for word in line]
    if not filled or len(words) < _FEWEST_WORDS * len(filled):
        return None
    for mark in _MARKS:
        if all(_has_tag(word, mark) for word in words):
            return mark
    return None


def _has_tag(item: str, mark: str) -> bool:
    """Returns whether an item is a word, a mark, and a tag."""
    word, _, tag = item.rpartition(mark)
    return bool(word and tag)


def slashed_sentences(lines: Sequence[str], mark: str) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of lines such as `The/DT dog/NN sleeps/VBZ`. If each word has several tags,
    as in `Rome|NNP|B-LOC`, the last one counts.
    """
    numbers_of_marks = {item.count(mark) for line in lines for item in line.split()}
    most_marks = 1  # a mark further left, as in 1/2/CD, is part of the word
    if len(numbers_of_marks) == 1:
        most_marks = numbers_of_marks.pop()
    for number, line in enumerate(lines, start=1):
        words = []
        tags = []
        for item in line.split():
            fields = item.rsplit(mark, most_marks)
            words.append(fields[0])
            tags.append(fields[-1])
        if words:
            yield TaggedSentence([f"line {number}"] * len(words), words, tags)
