"""The words of any tokenizer, and their characters."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from elmo_plugin.bilm import sentences_to_character_ids


class Token(Protocol):
    """A word of spaCy's or AllenNLP's."""

    @property
    def text(self) -> str: ...


Word = str | Token


def texts(words: Sequence[Word]) -> list[str]:
    """Returns the text of each word."""
    return [word if isinstance(word, str) else word.text for word in words]


def batch_to_ids(batch: Sequence[Sequence[Word]]) -> Tensor:
    """
    # Parameters

    batch : `Sequence[Sequence[Word]]`
        The words of each sentence: strings, or the tokens of spaCy and AllenNLP.

    # Returns

    `Tensor`
        The characters of the words, for `Elmo`: shape (sentences, words of the longest, 50), int64, zeros at
        padding.
    """
    return torch.from_numpy(sentences_to_character_ids([texts(words) for words in batch])).long()
