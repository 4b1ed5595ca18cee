"""The lines of a text, cut into passages that are embedded one by one."""

import sys
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from elmo_plugin.common.text_files import compression, decode, read_lines
from elmo_plugin.embed_files.passage import Passage

STANDARD_INPUT = "-"
_LINE_BYTES = 8  # that a line counts beside its text: blank lines take room, too


class Text:
    """
    A text that can be read once, passage by passage.

    # Parameters

    source : `str`
        A file of UTF-8 text with a sentence a line, plain, `.gz` or `.zst`; `-` for the standard input.
    passage_bytes : `int`
        A passage ends with the line that makes it at least so long. Where passages end depends on nothing but
        the text before.

    Attribute `num_passages` says how many were read.
    """

    def __init__(self, source: str, passage_bytes: int) -> None:
        self.source = source
        self.num_passages = 0
        self._passage_bytes = passage_bytes
        self._digest = blake2b(digest_size=16)

    def __iter__(self) -> Iterator[Passage]:
        """Raises `ConfigurationError` where a line is not UTF-8 text, or a packed file is damaged."""
        for passage in self._passages():
            self.num_passages += 1
            self._digest.update(passage.digest().encode())
            yield passage

    def digest(self) -> str:
        """Tells the sentences that were read."""
        return self._digest.hexdigest()

    def _passages(self) -> Iterator[Passage]:
        name = "standard input" if self.source == STANDARD_INPUT else self.source
        first_line, num_bytes, sentences = 0, 0, []
        for number, line in enumerate(_lines(self.source)):
            sentences.append(decode(line, f"{name}, line {number + 1}").strip())
            num_bytes += len(line)
            if num_bytes + _LINE_BYTES * len(sentences) >= self._passage_bytes:
                yield Passage(self.num_passages, first_line, sentences, num_bytes)
                first_line, num_bytes, sentences = number + 1, 0, []
        if sentences:
            yield Passage(self.num_passages, first_line, sentences, num_bytes)


def size_of(source: str) -> int | None:
    """The bytes of a text, where they can be told before it is read."""
    path = Path(source)
    return path.stat().st_size if path.is_file() and not compression(source) else None


def _lines(source: str) -> Iterable[bytes]:
    return sys.stdin.buffer if source == STANDARD_INPUT else read_lines(source)
