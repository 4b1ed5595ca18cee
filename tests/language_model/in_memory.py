"""Small texts in memory, and in a plain form what a direction of a language model reads in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, pairwise

import numpy as np
from hypothesis import strategies as st

from elmo_plugin.language_model.batches.windows import Text, Window
from elmo_plugin.language_model.corpus.chunks import RESERVED_WORDS, Piece

Sentence = list[str]
Pairs = list[tuple[str, str]]  # of a word that is read and the word to be predicted

# How many words there are in each sentence of each piece.
LENGTHS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=12), min_size=1, max_size=4)


def distinct_words(lengths: list[list[int]]) -> list[list[Sentence]]:
    """Pieces of sentences of the given lengths, in which no word occurs twice."""
    return [
        [
            [f"{piece}.{sentence}.{word}" for word in range(length)]
            for sentence, length in enumerate(piece_lengths)
        ]
        for piece, piece_lengths in enumerate(lengths)
    ]


@dataclass
class InMemory:
    """Stands for a `PieceFiles`."""

    content: list[Sentence]

    def open(self, max_characters: int) -> Piece:
        words = [*RESERVED_WORDS, *dict.fromkeys(chain.from_iterable(self.content))]
        types = {word: number for number, word in enumerate(words)}
        numbers = np.array([types[word] for word in chain.from_iterable(self.content)], dtype=np.uint32)
        hashes = [int.from_bytes(blake2b(word.encode(), digest_size=7).digest(), "big") for word in words]
        return Piece(
            types=numbers,
            starts=np.cumsum([0, *map(len, self.content)]),
            counts=np.bincount(numbers, minlength=len(words)),
            hashes=np.array([0, *hashes[1:]]),
            text=np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
            max_characters=max_characters,
        )


def in_memory(pieces: Sequence[list[Sentence]]) -> Text:
    """With a vocabulary of all its words, numbered from 2 in alphabetical order; 1 is unknown."""
    words = sorted({*chain.from_iterable(chain.from_iterable(pieces)), "<S>", "</S>"})
    numbers = {word: number for number, word in enumerate(words, start=2)}
    return Text([InMemory(content) for content in pieces], numbers, unknown=1, max_characters=12)


def pairs_of(sentence: Sentence, reverse: bool) -> Pairs:
    return list(pairwise(["<S>", *sentence, "</S>"][:: -1 if reverse else 1]))


def pairs_in_rows(windows: Sequence[Window], text: Text) -> list[Pairs]:
    """What each row reads and predicts in all windows; ("", "") where there is nothing."""
    vocabulary = ["", "", *text.numbers]
    spelled = {(0,) * text.max_characters: ""}
    for content in text.pieces:
        piece = content.open(text.max_characters)
        spelled.update(zip(map(tuple, piece.character_ids.tolist()), piece.words, strict=True))
    rows: list[Pairs] = [[] for _ in windows[0].inputs]
    for inputs, targets, words in windows:
        read = words.character_ids[inputs].tolist()
        predicted = words.numbers[targets].tolist()
        for row, *row_of_window in zip(rows, read, predicted, strict=True):
            for ids, number in zip(*row_of_window, strict=True):
                row.append((spelled[tuple(ids)], vocabulary[number]))
    return rows
