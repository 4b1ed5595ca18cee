"""What `BiLm.encode` returns for a text: its words and their vectors, found by word or position."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.common.errors import BiLmError, did_you_mean
from elmo_plugin.common.meanings import no_attribute
from elmo_plugin.common.typography import normalize_text

Vectors = TypeVar("Vectors", Tensor, np.ndarray)


@dataclass(frozen=True, eq=False, repr=False)
class EncodedText(Generic[Vectors]):
    """
    The words of a text and their vectors.

        text = bilm.encode("He sat on the bank of the river.")
        text["bank"]        # the vector of a word that is in the text once
        text.find("the")    # the vectors of all its occurrences, one after the other
        text[4]             # the vector of the fifth word

    words: the text's words, as the biLM reads them
    offsets: for each word, its beginning and its end in the original text; `None` if the text was
        a list of words, or was split by a function of the caller
    vectors: shape (words, dim), or (num_layers, words, dim) for all layers
    """

    words: list[str]
    offsets: list[tuple[int, int]] | None
    vectors: Vectors

    def __repr__(self) -> str:
        return (
            f"EncodedText({repr(self.words)[:200]}, vectors of shape {tuple(self.vectors.shape)})"
        )

    def __len__(self) -> int:
        """Returns the number of words."""
        return len(self.words)

    def __iter__(self) -> Iterator[Vectors]:
        """Yields the vector of each word, or its vectors in all layers."""
        for position in range(len(self.words)):
            yield self[position]

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and len(self.positions(word)) > 0

    def __getitem__(self, key: str | int) -> Vectors:
        """
        Returns the vector of a word, or of the word at a position: shape (dim,), or (num_layers,
        dim) for all layers. Raises `BiLmError` if the text contains the word several times,
        `KeyError` if it does not contain it, and `IndexError` for a position outside of it.
        """
        if not isinstance(key, str):
            return self._at(key)
        positions = self._existing_positions(key)
        if len(positions) > 1:
            listed = ", ".join(str(position) for position in positions)
            raise BiLmError(
                f"{key!r} is in the text {len(positions)} times, at the positions {listed}: choose "
                f"one, as in text[{positions[0]}], or take text.find({key!r}) for all of them"
            )
        return self._at(positions[0])

    def _at(self, position: int) -> Vectors:
        """Returns the vector at a position. Raises `IndexError` if the text ends before it."""
        try:
            # The list checks the position: as an index of a tensor, `None` would raise no error.
            self.words[position]
        except IndexError:
            raise IndexError(
                f"position {position}: the text has {len(self.words)} words, and the first is 0"
            ) from None
        return self.vectors[..., position, :]

    def find(self, word: str) -> Vectors:
        """
        Returns the vectors of all occurrences of a word, in their order: shape (occurrences, dim),
        or (num_layers, occurrences, dim) for all layers. Raises `KeyError` if there are none.
        """
        return self.vectors[..., self._existing_positions(word), :]

    def positions(self, word: str) -> list[int]:
        """Returns the positions of a word; 0 is the first word of the text."""
        found = [position for position, other in enumerate(self.words) if other == word]
        if found:
            return found
        # Raw text is read with ASCII's apostrophes and quotes, so n’t is found as n't.
        plain = normalize_text(word)
        return [position for position, other in enumerate(self.words) if other == plain]

    def _existing_positions(self, word: str) -> list[int]:
        """Returns the positions of a word. Raises `KeyError` if the text does not contain it."""
        positions = self.positions(word)
        if not positions:
            hint = did_you_mean(word, self.words)
            raise KeyError(f"{word!r} is not one of the words in text.words{hint}")
        return positions

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Returns the vectors as numpy's functions read them."""
        array = np.asarray(torch.as_tensor(self.vectors).numpy(force=True), dtype=dtype)
        return array.copy() if copy else array

    if not TYPE_CHECKING:  # so that type checkers still find misspelt names

        def __getattr__(self, name: str) -> Any:
            """Raises an `AttributeError` that says what other libraries' names are called here."""
            raise no_attribute("EncodedText", name)
