"""Vectors of words without their sentences, such as GloVe's, and their nearest neighbours."""

from contextlib import suppress

import numpy as np

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.text_files import decode, read_lines


class StaticVectors:
    """
    Words with a vector each.

    # Parameters

    words : `list[str]`
        The words.
    vectors : `np.ndarray`
        Their vectors. Shape (words, dim).
    """

    def __init__(self, words: list[str], vectors: np.ndarray) -> None:
        self._words = words
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = vectors / np.where(lengths > 0, lengths, 1)
        self._rows = {word: row for row, word in reversed(list(enumerate(words)))}

    @classmethod
    def read(cls, path: str) -> "StaticVectors":
        """
        Reads the text format of GloVe or word2vec: a word and its numbers a line, with spaces between them;
        that of word2vec begins with a line that has the number of words and of dimensions. The file may be
        compressed.

        Raises `BiLmError`, naming file and line, if a line has another form than the first, and if there are
        not as many vectors as the first line says.
        """
        words: list[str] = []
        vectors: list[np.ndarray] = []
        dim, expected = 0, None
        for number, line in enumerate(read_lines(path), start=1):
            location = f"{path}, line {number}"
            columns = decode(line, location).rstrip().split(" ")
            if number == 1 and len(columns) == 2 and all(each.isdecimal() for each in columns):
                expected, dim = map(int, columns)  # of word2vec
                continue
            dim = dim or len(columns) - 1
            words.append(" ".join(columns[: len(columns) - dim]))  # some of GloVe's words have spaces
            vectors.append(_numbers(columns[len(columns) - dim :], dim, location))
        if not words:
            raise BiLmError(f"{path}: there is no vector in this file")
        if expected not in (None, len(words)):
            raise BiLmError(f"{path}: line 1 says {expected} vectors, but there are {len(words)}")
        return cls(words, np.stack(vectors))

    def nearest(self, word: str, k: int) -> list[tuple[str, float]] | None:
        """
        Returns the `k` nearest other words with their cosines, the nearest first, or `None` for a word
        without a vector. A word without a vector as it is written is looked up in lower case.
        """
        row = self._rows.get(word, self._rows.get(word.lower()))
        if row is None:
            return None
        cosines = self._vectors @ self._vectors[row]
        order = [int(other) for other in np.argsort(-cosines)[: k + 1] if other != row]
        return [(self._words[other], float(cosines[other])) for other in order[:k]]


def _numbers(columns: list[str], dim: int, location: str) -> np.ndarray:
    numbers: np.ndarray = np.empty(0)
    with suppress(ValueError):
        numbers = np.array(columns, dtype=np.float32)
    if not dim or numbers.shape != (dim,) or not np.isfinite(numbers).all():
        expected = f"a word and {dim} numbers" if dim else "a word and its numbers"
        raise BiLmError(f"{location}: expected {expected}, with spaces between them")
    return numbers
