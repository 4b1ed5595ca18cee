"""Small texts in memory, and in a plain form what a direction of a language model reads in them."""

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
from hypothesis import strategies as st

from elmo_plugin.language_model.chunks import CorpusChunk, IndexedCorpus
from elmo_plugin.language_model.windows import Items

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


class InMemory:
    """Stands for a `ChunkFile`."""

    def __init__(self, content: list[Sentence]) -> None:
        self.tokens, self.sentences = sum(map(len, content)), len(content)
        words = list(dict.fromkeys(chain.from_iterable(content)))
        tokens = np.array(
            [words.index(word) for word in chain.from_iterable(content)], dtype=np.uint32
        )
        self._chunk = CorpusChunk(words, tokens, np.cumsum([0, *map(len, content)]))

    def open(self) -> CorpusChunk:
        return self._chunk

    def read(self, name: str) -> list[np.ndarray]:
        return [getattr(self._chunk, name)]


def in_memory(chunks: Sequence[list[Sentence]], known: int = 1) -> IndexedCorpus:
    """
    With a vocabulary of all its words, or without every third, and so on, numbered from 2 in
    alphabetical order; 1 is unknown.
    """
    words = sorted({*chain.from_iterable(chain.from_iterable(chunks))})
    known_words = [word for place, word in enumerate(words) if known == 1 or place % known]
    numbers = {word: number for number, word in enumerate(["<S>", "</S>", *known_words], start=2)}
    return IndexedCorpus(list(map(InMemory, chunks)), numbers, unknown_number=1, max_characters=12)


def pairs_of(sentence: Sentence, reverse: bool) -> Pairs:
    return list(pairwise(["<S>", *sentence, "</S>"][:: -1 if reverse else 1]))


def pairs_in_rows(windows: Sequence[Items], corpus: IndexedCorpus) -> list[Pairs]:
    """
    What each row reads and predicts in all windows of a direction; ("", "") where there is nothing.
    """
    inputs = np.concatenate([window.inputs for window in windows], axis=-1)
    targets = np.concatenate([window.targets for window in windows], axis=-1)
    return [
        [(corpus.words[word], corpus.words[after]) for word, after in zip(*row, strict=True)]
        for row in zip(inputs, targets, strict=True)
    ]
