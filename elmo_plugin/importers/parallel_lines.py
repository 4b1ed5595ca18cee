"""Words and tags in two files with a sentence in each line, such as seq.in and seq.out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_sentence import TaggedSentence


def other_file(file: str) -> str | None:
    """Returns the file of tags beside a file of words, such as seq.out beside seq.in, or `None`."""
    if not file.endswith(".in"):
        return None
    other = file.removesuffix("in") + "out"
    if Path(other).exists():
        return other
    return None


def parallel_sentences(
    file: str, words: Sequence[str], other: str, tags: Sequence[str]
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of lines of words and of tags. Raises `ConfigurationError`, naming file and
    line, if there is not a tag for each word.
    """
    if len(words) != len(tags):
        raise ConfigurationError(
            f"{file}: expected as many lines as {other} has, got {len(words)} and {len(tags)}"
        )
    for number, (line, line_of_tags) in enumerate(zip(words, tags, strict=True), start=1):
        words_in_line = line.split()
        tags_in_line = line_of_tags.split()
        if len(words_in_line) != len(tags_in_line):
            raise ConfigurationError(
                f"{file}, line {number}: expected a tag for each word in {other}, got "
                f"{len(words_in_line)} words and {len(tags_in_line)} tags"
            )
        if words_in_line:
            places = [f"line {number}"] * len(words_in_line)
            yield TaggedSentence(places, words_in_line, tags_in_line)
