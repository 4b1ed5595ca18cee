"""Chunks of tokenized text in files, and how a model with a vocabulary reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elmo_plugin.bilm import (
    BEGIN_SENTENCE_TOKEN,
    BEGIN_WORD,
    END_SENTENCE_TOKEN,
    END_WORD,
    PADDING,
    word_to_character_ids,
)
from elmo_plugin.common.errors import BiLmError, raise_stop

BEGIN_SENTENCE_TYPE = 1
END_SENTENCE_TYPE = 2
RESERVED_WORDS = ["", BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN]  # the words of types 0, 1 and 2


class CorpusChunk(NamedTuple):
    """Sentences as numbers of words."""

    words: list[str]  # the distinct ones, in the order of their first appearance
    tokens: np.ndarray  # Shape: (tokens,), uint32, the place in `words` of each word of the text
    starts: np.ndarray  # Shape: (sentences + 1,), int64, the sentences' begins; the end of the last


class IndexedChunk(NamedTuple):
    """Sentences as types of an `IndexedCorpus`."""

    types: np.ndarray  # Shape: (tokens,), int32, the type of each word of the text
    starts: np.ndarray  # Shape: (sentences + 1,), int64, the sentences' begins; the end of the last


@dataclass(frozen=True)
class ChunkFiles:
    """The place of a chunk, and its size, known without opening it."""

    path: Path
    tokens: int  # words, without sentence boundaries
    sentences: int

    def read(self, *names: str) -> list[np.ndarray]:
        """
        Reads arrays of the file into memory: if a mapped file were truncated, the process would
        crash.

        Raises `BiLmError` if the file is missing from the cache or damaged: zip has checksums.
        """
        try:
            with np.load(self.path) as arrays:
                return [arrays[name] for name in names]
        except Exception as error:  # damage can make the reader raise anything
            raise_stop(error)
            raise BiLmError(
                f"{self.path}, text prepared for training, is gone or damaged ({error}); "
                f"remove the folder {self.path.parent} and start again"
            ) from None

    def open(self) -> CorpusChunk:
        """Reads the chunk."""
        text, tokens, starts = self.read("text", "tokens", "starts")
        return CorpusChunk(text.tobytes().decode("utf-8").split("\n"), tokens, starts)


def write_corpus_chunk(
    path: Path, words: Sequence[str], tokens: Sequence[int], lengths: Sequence[int]
) -> None:
    """Writes the file of a chunk; `lengths` are the numbers of words in its sentences."""
    text = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    starts = np.append(0, np.cumsum(lengths, dtype=np.int64))
    np.savez(path, text=text, tokens=np.asarray(tokens, dtype=np.uint32), starts=starts)


class IndexedCorpus:
    """
    A corpus as a model with a vocabulary reads it. Its distinct words are numbered as types: 0 is
    no word, 1 and 2 are `<S>` and `</S>`.
    """

    def __init__(
        self,
        chunks: Sequence[ChunkFiles],
        numbers: Mapping[str, int],
        unknown: int,
        max_characters: int,
    ) -> None:
        """`numbers` are the vocabulary's; `unknown` stands for all other words."""
        self.chunks = chunks
        self.unknown = unknown
        self._types = {word: number for number, word in enumerate(RESERVED_WORDS)}
        for chunk in chunks:
            for word in chunk.open().words:
                self._types.setdefault(word, len(self._types))
        # From here on, everything has an entry for each type.
        self.words = list(self._types)
        self.character_ids = _character_ids(self.words, max_characters)  # zeros for type 0
        self.hashes = _hashes(self.words, self.character_ids)  # they order a batch's words
        # Only type 0 has the number 0: a word that looks like the vocabulary's padding is unknown.
        number_of_type = [numbers.get(word) or unknown for word in self.words]
        number_of_type[0] = 0
        self.numbers = np.array(number_of_type)

    def open(self, index: int) -> IndexedChunk:
        """Reads a chunk."""
        words, tokens, starts = self.chunks[index].open()
        type_of_word = np.array([self._types[word] for word in words], dtype=np.int32)
        return IndexedChunk(type_of_word[tokens], starts)


def _hashes(words: Sequence[str], character_ids: np.ndarray) -> np.ndarray:
    """
    Returns a number for each type, shape (words,), int64, 0 for type 0. Words with the same
    character ids are one word to the biLM, and have the same number.
    """
    digests = [blake2b(word.encode(), digest_size=8).digest() for word in words[1:]]
    hashes = np.frombuffer(bytes(8) + b"".join(digests), dtype="<i8").copy()
    bytes_that_are_read = character_ids.shape[1] - 2
    first_type: dict[bytes, int] = {}
    for number, word in enumerate(words):
        if len(word.encode()) >= bytes_that_are_read:  # shorter words differ in their ids
            same = first_type.setdefault(character_ids[number].tobytes(), number)
            hashes[number] = hashes[same]
    return hashes


def _character_ids(words: Sequence[str], max_characters: int) -> np.ndarray:
    """
    Returns `word_to_character_ids` of reserved and other words, shape (words, max_characters),
    int16.
    """
    text = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
    begins = np.append(0, ends[:-1] + 1)
    lengths = np.minimum(ends - begins, max_characters - 2)
    ids = np.full((len(ends), max_characters), PADDING, dtype=np.int16)
    rows = np.repeat(np.arange(len(ends)), lengths)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    ids[:, 0] = BEGIN_WORD
    ids[rows, 1 + places] = text[begins[rows] + places].astype(np.int16) + 1
    ids[np.arange(len(ends)), 1 + lengths] = END_WORD
    ids[0] = 0
    for boundary in (BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE):
        ids[boundary] = word_to_character_ids(RESERVED_WORDS[boundary], max_characters)
    return ids
