"""Vectors of words that a frozen token encoder keeps between batches."""

from collections.abc import Callable

import torch
from torch import Tensor

from elmo_plugin.common.process import ForkSafeLock


class WordCache:
    """
    A bounded table of words and their vectors, on the device of the vectors, tied to a single
    encoder. A word is its character ids.

    When full, it evicts everything and reuses the memory. Several threads may use it, in and out of
    `torch.inference_mode()`, and so may a process that is forked meanwhile: a word is added after
    its vector.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._lock = ForkSafeLock()
        self._rows: dict[bytes, int] = {}  # the row of each word
        self._vectors: Tensor | None = None  # Shape: (capacity, dim)

    def __len__(self) -> int:
        return len(self._rows)

    def look_up(self, words: Tensor, encode: Callable[[Tensor], Tensor]) -> Tensor:
        """
        Returns the vectors of distinct `words`, shape (words, characters), int16. Vectors of stored
        words are copied from the table. `encode` computes the others, and they are stored. The
        result has the shape (words, dim), and shares no memory with the table.

        Raises `ValueError` if `words` contains a word twice. It would take two rows of the table
        but count as one word, and later words would overwrite rows that are in use.
        """
        keys = [word.tobytes() for word in words.to(torch.int16).numpy(force=True)]
        if len(set(keys)) < len(keys):
            raise ValueError("WordCache.look_up: expected distinct words, got one of them twice")
        with self._lock:
            rows = [self._rows.get(key, -1) for key in keys]  # -1 for a missing word
            missing = [number for number, row in enumerate(rows) if row < 0]
            if self._vectors is None or len(missing) == len(keys):  # no word is stored
                vectors = encode(words)
                self._insert(keys, vectors)
                return vectors
            # A copy. A missing word has the last row of the table here, until it gets its own.
            vectors = self._vectors[rows]
            if missing:
                encoded = encode(words[missing])
                vectors[missing] = encoded
                self._insert([keys[number] for number in missing], encoded)
            return vectors

    def _insert(self, keys: list[bytes], vectors: Tensor) -> None:
        """Adds as many of the words as fit, in place of all earlier words if there is no room."""
        # Tensors made in inference mode could not be written outside of it.
        with torch.inference_mode(False), torch.no_grad():
            if self._vectors is None:
                self._vectors = vectors.new_empty(self.capacity, vectors.size(1))
            if len(self._rows) + len(keys) > self.capacity:
                self._rows = {}
            kept = keys[: self.capacity]
            start = len(self._rows)
            stop = start + len(kept)
            # The vectors first: a process forked in between must not find words without them.
            self._vectors[start:stop] = vectors[: len(kept)]
            self._rows.update(zip(kept, range(start, stop), strict=True))
