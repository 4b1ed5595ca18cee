"""Words and tags in two files with a sentence in each line, such as seq.in and seq.out."""

from collections.abc import Iterator
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence, sentence_at
from elmo_plugin.importers.text import read_text


def has_file_of_tags(source: TaggedFile) -> bool:
    """Returns whether a file of tags is beside a file of words."""
    return _tags_beside(source.file) is not None


def _tags_beside(file: str) -> str | None:
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


def parallel_sentences(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentence of each line of words and its line of tags.

    Raises `ConfigurationError`, naming file and line, if there is not a tag for each word.
    """
    tag_file = _tags_beside(source.file)
    assert tag_file is not None  # `has_file_of_tags` has found it
    source.report.took(f"the tags are in {tag_file}")
    tags = read_text(tag_file, source.options, source.report)
    # The number of lines must be the same, but either file may end in blank lines.
    lines_of_words = source.text.rstrip().split("\n")
    lines_of_tags = tags.rstrip().split("\n")
    if len(lines_of_words) != len(lines_of_tags):
        raise ConfigurationError(
            f"{source.file}: expected as many lines as {tag_file} has, got "
            f"{len(lines_of_words)} and {len(lines_of_tags)}"
        )
    pairs = zip(lines_of_words, lines_of_tags, strict=True)
    for number, (line, line_of_tags) in enumerate(pairs, start=1):
        words_in_line = line.split()
        tags_in_line = line_of_tags.split()
        if len(words_in_line) != len(tags_in_line):
            raise ConfigurationError(
                f"{source.file}, line {number}: expected a tag for each word in {tag_file}, got "
                f"{len(words_in_line)} words and {len(tags_in_line)} tags"
            )
        if words_in_line:
            yield sentence_at(f"line {number}", words_in_line, tags_in_line)
