"""What is written of a passage."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np


class Part(NamedTuple):
    """
    first_line: the number, from 0, of its first sentence in the text
    sentences: as they are in the text
    words: of each sentence
    vectors: of each sentence, shape (num_layers, words, dim) or (words, dim)
    """

    first_line: int
    sentences: list[str]
    words: list[list[str]]
    vectors: list[np.ndarray]


class OutputFormat(Protocol):
    """
    One kind of file. A part is such a file with the sentences of one passage. With each file goes a
    description, from which it can be told how it was made.
    """

    def write(self, path: Path, part: Part, description: dict[str, Any]) -> None:
        """Writes a part. Raises `OSError` where it cannot."""

    def join(self, parts: Iterable[Path], path: Path, description: dict[str, Any]) -> None:
        """Writes all parts as one file, with no more than one of them in memory. Raises `OSError`."""

    def read_description(self, path: Path) -> dict[str, Any] | None:
        """`None` where the file is damaged, or not such a file."""
