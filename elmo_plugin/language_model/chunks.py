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
from elmo_plugin.common.errors import BiLmError, raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.formats.joined_lines import join_lines, split_lines

BEGIN_SENTENCE_TYPE = 1
END_SENTENCE_TYPE = 2
RESERVED_WORDS = ["", BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN]  # the words of types 0, 1 and 2


class CorpusChunk(NamedTuple):
    """
    Sentences as numbers of words. The sentences "no means no" and "yes" have the `words` no, means
    and yes, the `tokens` 0, 1, 0 and 2, and the `starts` 0, 3 and 4.
    """

    words: list[str]  # the distinct ones, in the order of their first appearance
    tokens: np.ndarray  # Shape: (tokens,), uint32, the place in `words` of each word of the text
    starts: np.ndarray  # Shape: (sentences + 1,), int64, where sentences begin; the last one's end


class IndexedChunk(NamedTuple):
    """Sentences as types of an `IndexedCorpus`."""

    types: np.ndarray  # Shape: (tokens,), int32, the type of each word of the text
    starts: np.ndarray  # Shape: (sentences + 1,), int64, where sentences begin; the last one's end


@dataclass(frozen=True)
class ChunkFiles:
    """The file of a chunk, and the chunk's size, so that the file need not be opened for it."""

    path: Path
    tokens: int  # the number of words, without sentence boundaries
    sentences: int

    def read(self, *names: str) -> list[np.ndarray]:
        """
        Reads arrays of the file, by their names. The file is not mapped into memory: if a mapped
        file were truncated, the process would crash.

        Raises `BiLmError` if the file is missing from the cache or damaged. Damage is noticed
        because the file is a zip archive, with checksums.
        """
        try:
            with np.load(self.path) as arrays:
                return [arrays[name] for name in names]
        except Exception as error:  # damage can make the reader raise anything
            raise_if_sigterm_or_out_of_memory(error)
            raise BiLmError(
                f"{self.path}, text prepared for training, is gone or damaged ({error}); "
                f"remove the folder {self.path.parent} and start again"
            ) from None

    def open(self) -> CorpusChunk:
        """Reads the chunk."""
        text, tokens, starts = self.read("text", "tokens", "starts")
        return CorpusChunk(split_lines(text), tokens, starts)


def write_corpus_chunk(
    path: Path, words: Sequence[str], tokens: Sequence[int], lengths: Sequence[int]
) -> None:
    """
    Writes the file of a chunk: its distinct words, the place among them of each word of the text,
    and where its sentences begin. `lengths` are the numbers of words in the sentences.
    """
    np.savez(
        path,
        text=join_lines(words),
        tokens=np.asarray(tokens, dtype=np.uint32),
        starts=np.append(0, np.cumsum(lengths, dtype=np.int64)),
    )


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
        # The list and the arrays below have an entry for each type.
        self.words = list(self._types)
        self.character_ids = _character_ids(self.words, max_characters)  # zeros for type 0
        self.hashes = _hashes(self.words, self.character_ids)  # they order a batch's words
        self.numbers = self._vocabulary_numbers(numbers)

    def _vocabulary_numbers(self, numbers: Mapping[str, int]) -> np.ndarray:
        """Returns the vocabulary's number of each type, shape (types,). Only type 0 gets 0."""
        number_of_type = [0]
        for word in self.words[1:]:
            number = numbers.get(word, self.unknown)
            if number == 0:  # the word is spelled like the vocabulary's padding
                number = self.unknown
            number_of_type.append(number)
        return np.array(number_of_type)

    def open(self, index: int) -> IndexedChunk:
        """Reads a chunk."""
        words, tokens, starts = self.chunks[index].open()
        type_of_word = np.array([self._types[word] for word in words], dtype=np.int32)
        return IndexedChunk(type_of_word[tokens], starts)


def _hashes(words: Sequence[str], character_ids: np.ndarray) -> np.ndarray:
    """
    Returns a hash of each word, shape (words,), int64. Type 0, the empty word, has the hash 0.
    Words with the same character ids are one word to the biLM, and have the same hash.
    """
    digests = [bytes(8)]  # of type 0
    for word in words[1:]:
        digests.append(blake2b(word.encode(), digest_size=8).digest())
    hashes = np.frombuffer(b"".join(digests), dtype="<i8").copy()  # without a copy it is read-only
    # A word's ids are its bytes between two marks. Only words that may be cut can have equal ids.
    max_bytes = character_ids.shape[1] - 2
    first_with_ids: dict[bytes, int] = {}
    for number, word in enumerate(words):
        if len(word.encode()) >= max_bytes:
            first = first_with_ids.setdefault(character_ids[number].tobytes(), number)
            hashes[number] = hashes[first]
    return hashes


def _character_ids(words: Sequence[str], max_characters: int) -> np.ndarray:
    """
    Returns `word_to_character_ids` of reserved and other words, shape (words, max_characters),
    int16. All words are converted at once, because a text may have a million distinct ones.
    """
    text = join_lines(words)
    # Where each word begins and ends in `text`, and how many of its bytes are read. Shape: (words,)
    ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
    begins = np.append(0, ends[:-1] + 1)
    lengths = np.minimum(ends - begins, max_characters - 2)
    # The word of each byte that is read, and the place of the byte in its word. Shape: (bytes,)
    rows = np.repeat(np.arange(len(words)), lengths)
    bytes_before = np.cumsum(lengths) - lengths
    places = np.arange(len(rows)) - bytes_before[rows]
    ids = np.full((len(words), max_characters), PADDING, dtype=np.int16)
    ids[:, 0] = BEGIN_WORD
    ids[rows, 1 + places] = text[begins[rows] + places].astype(np.int16) + 1
    ids[np.arange(len(words)), 1 + lengths] = END_WORD
    # The first types are no words with characters: none, and the boundaries of a sentence.
    ids[0] = 0
    for boundary in (BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE):
        ids[boundary] = word_to_character_ids(RESERVED_WORDS[boundary], max_characters)
    return ids
