"""A stored softmax, and the words that it predicts."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.characters import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN

UNKNOWN_WORDS = ("@@UNKNOWN@@", "<UNK>")  # the names in AllenNLP's and in published vocabularies
PADDING_WORD = "@@PADDING@@"  # the word in row 0 of AllenNLP's vocabularies


class SoftmaxWeights(NamedTuple):
    """
    A stored softmax with the words that it predicts.

    weight: shape (words, projection_dim)
    bias: shape (words,)
    words: the word of each row, in the order of the vocabulary
    """

    weight: Tensor
    bias: Tensor
    words: list[str]

    @property
    def has_padding(self) -> bool:
        """Whether row 0 is no word, but the padding of AllenNLP's vocabularies."""
        return self.words[:1] == [PADDING_WORD]

    def numbers(self) -> dict[str, int]:
        """Returns the number of each word, without the padding."""
        first = 1 if self.has_padding else 0
        return {word: number for number, word in enumerate(self.words[first:], start=first)}

    def unknown_number(self, names: Sequence[str] = UNKNOWN_WORDS) -> int | None:
        """
        Returns the number of the word that stands for unknown words, the first of these `names` in
        the vocabulary; `None` if there is none.
        """
        numbers = self.numbers()
        for name in names:
            if name in numbers:
                return numbers[name]
        return None

    def vocabulary(self) -> tuple[dict[str, int], int] | None:
        """
        Returns the number of each word, and the one that stands for unknown words; `None` if text
        cannot be scored, because the unknown word or a sentence boundary is missing.
        """
        numbers = self.numbers()
        unknown = self.unknown_number()
        if unknown is None or not {BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN} <= numbers.keys():
            return None
        return numbers, unknown
