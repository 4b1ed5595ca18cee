"""Small texts in memory, and in a plain form what a direction of a language model reads in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, pairwise

import numpy as np
from hypothesis import strategies as st

from elmo_plugin.language_model.chunks import RESERVED_WORDS, CorpusChunk, IndexedCorpus
from elmo_plugin.language_model.windows import Window

Sentence = list[str]
Pairs = list[tuple[str, str]]  # of a word that is read and the word to be predicted

# How many words there are in each sentence of each chunk.
LENGTHS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=12), min_size=1, max_size=4)


def distinct_words(lengths: list[list[int]]) -> list[list[Sentence]]:
    """Chunks of sentences of the given lengths, in which no word occurs twice."""
    return [
        [
            [f"{chunk}.{sentence}.{word}" for word in range(length)]
            for sentence, length in enumerate(chunk_lengths)
        ]
        for chunk, chunk_lengths in enumerate(lengths)
    ]


@dataclass
class InMemory:
    """Stands for a `ChunkFiles`."""

    content: list[Sentence]

    def open(self, max_characters: int) -> CorpusChunk:
        words = [*RESERVED_WORDS, *dict.fromkeys(chain.from_iterable(self.content))]
        types = {word: number for number, word in enumerate(words)}
        numbers = np.array([types[word] for word in chain.from_iterable(self.content)], dtype=np.uint32)
        hashes = [int.from_bytes(blake2b(word.encode(), digest_size=7).digest(), "big") for word in words]
        return CorpusChunk(
            types=numbers,
            starts=np.cumsum([0, *map(len, self.content)]),
            counts=np.bincount(numbers, minlength=len(words)),
            hashes=np.array([0, *hashes[1:]]),
            text=np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
            max_characters=max_characters,
        )


def in_memory(chunks: Sequence[list[Sentence]]) -> IndexedCorpus:
    """With a vocabulary of all its words, numbered from 2 in alphabetical order; 1 is unknown."""
    words = sorted({*chain.from_iterable(chain.from_iterable(chunks)), "<S>", "</S>"})
    numbers = {word: number for number, word in enumerate(words, start=2)}
    return IndexedCorpus([InMemory(content) for content in chunks], numbers, unknown=1, max_characters=12)


def pairs_of(sentence: Sentence, reverse: bool) -> Pairs:
    return list(pairwise(["<S>", *sentence, "</S>"][:: -1 if reverse else 1]))


def pairs_in_rows(windows: Sequence[Window], corpus: IndexedCorpus) -> list[Pairs]:
    """What each row reads and predicts in all windows; ("", "") where there is nothing."""
    vocabulary = ["", "", *corpus.numbers]
    spelled = {(0,) * corpus.max_characters: ""}
    for content in corpus.chunks:
        chunk = content.open(corpus.max_characters)
        spelled.update(zip(map(tuple, chunk.character_ids.tolist()), chunk.words, strict=True))
    rows: list[Pairs] = [[] for _ in windows[0].inputs]
    for inputs, targets, table in windows:
        read = table.character_ids[inputs].tolist()
        predicted = table.numbers[targets].tolist()
        for row, *row_of_window in zip(rows, read, predicted, strict=True):
            for ids, number in zip(*row_of_window, strict=True):
                row.append((spelled[tuple(ids)], vocabulary[number]))
    return rows
