"""Reads a text in segments, and tokenizes its lines."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from elmo_plugin.common.formats.text_files import decode, read_lines, standard_input_lines
from elmo_plugin.common.spacy_rules import SpacyRules

STANDARD_INPUT = "-"
_LINE_BYTES = 8  # counted for each line besides its text, as blank lines take room, too


class Segment(NamedTuple):
    """
    Consecutive lines of a text.

    number: of the segment, from 0
    first_line: the number of its first line in the text, from 0
    sentences: its lines, stripped
    num_bytes: its size in the text
    source: the name of the text in error messages
    """

    number: int
    first_line: int
    sentences: list[str]
    num_bytes: int
    source: str = "the text"

    def location(self, sentence: int) -> str:
        """Returns the text and the line of the sentence with this number in the segment."""
        return f"{self.source}, line {self.first_line + sentence + 1}"

    def digest(self) -> str:
        """Returns a hash of the sentences."""
        return blake2b("\n".join(self.sentences).encode(), digest_size=16).hexdigest()


def read_segments(source: str, segment_bytes: int) -> Iterator[Segment]:
    """
    Reads a text in segments.

    # Parameters

    source : `str`
        A file of UTF-8 text with a sentence a line, plain, `.gz` or `.zst`; `-` for the standard input.
    segment_bytes : `int`
        A segment ends with the line that makes it at least this long, whatever the text after it.

    Raises `BiLmError` if a line is not UTF-8 text, or a compressed file is damaged.
    """
    is_file = source != STANDARD_INPUT
    name = source if is_file else "standard input"
    number, first_line, num_bytes, sentences = 0, 0, 0, []
    lines = read_lines(source) if is_file else standard_input_lines()
    for line_number, line in enumerate(lines, 1):
        sentences.append(decode(line, f"{name}, line {line_number}").strip())
        num_bytes += len(line)
        if num_bytes + _LINE_BYTES * len(sentences) >= segment_bytes:
            yield Segment(number, first_line, sentences, num_bytes, name)
            number, first_line, num_bytes, sentences = number + 1, line_number, 0, []
    if sentences:
        yield Segment(number, first_line, sentences, num_bytes, name)


def digest_of(segments: Sequence[str]) -> str:
    """Returns a hash of a text from the hashes of its segments."""
    return blake2b("".join(segments).encode(), digest_size=16).hexdigest()


def make_tokenizer(name: str, language: str) -> Callable[[str], list[str]]:
    """
    Returns a function from a line to its words. For `name` and `language` see `EmbedSettings`.

    Raises `BiLmError` if spaCy is missing, or has no rules for the language.
    """
    if name == "whitespace":
        return str.split
    rules = SpacyRules(language)
    return lambda line: [token.text for token in rules(line) if not token.is_space]
