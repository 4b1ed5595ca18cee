"""Words and tags in two files with a sentence in each line, such as seq.in and seq.out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_sentence import TaggedSentence


def tags_beside(file: str) -> str | None:
    """
    Returns the file of tags beside a file of words, such as `seq.out` beside `seq.in`, or `None` if
    it does not exist.
    """
    path = Path(file)
    if path.suffix != ".in":
        return None
    tag_file = path.with_suffix(".out")
    if not tag_file.exists():
        return None
    return str(tag_file)


def parallel_sentences(
    file: str, lines_of_words: Sequence[str], tag_file: str, lines_of_tags: Sequence[str]
) -> Iterator[TaggedSentence]:
    """
    Yields the sentence of each line of words and its line of tags.

    Raises `ConfigurationError`, naming file and line, if there is not a tag for each word.
    """
    if len(lines_of_words) != len(lines_of_tags):
        raise ConfigurationError(
            f"{file}: expected as many lines as {tag_file} has, got {len(lines_of_words)} and "
            f"{len(lines_of_tags)}"
        )
    pairs = zip(lines_of_words, lines_of_tags, strict=True)
    for number, (line, line_of_tags) in enumerate(pairs, start=1):
        words_in_line = line.split()
        tags_in_line = line_of_tags.split()
        if len(words_in_line) != len(tags_in_line):
            raise ConfigurationError(
                f"{file}, line {number}: expected a tag for each word in {tag_file}, got "
                f"{len(words_in_line)} words and {len(tags_in_line)} tags"
            )
        if words_in_line:
            places = [f"line {number}"] * len(words_in_line)
            yield TaggedSentence(places, words_in_line, tags_in_line)
