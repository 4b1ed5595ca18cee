"""Chunks of tokenized text in files, and how a model with a vocabulary reads them."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import repeat
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


@dataclass
class CorpusChunk:
    """
    Sentences as numbers of words. The numbers are the chunk's own types: 0 is no word, 1 and 2 are `<S>` and
    `</S>`, and from 3 on words are numbered in the order of their first appearance.

    types: shape (tokens,), uint32, the type of each word of the text, without sentence boundaries
    starts: shape (sentences + 1,), int64, where each sentence begins in `types`, and the end of the last one
    counts: shape (types,), int64, the occurrences of each type; `<S>` and `</S>` occur once per sentence
    hashes: shape (types,), int64, a hash of each word, the same in all chunks; 0 for type 0
    text: shape (bytes,), uint8, the words of all types as UTF-8, separated by line feeds
    """

    types: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    hashes: np.ndarray
    text: np.ndarray
    max_characters: int

    @cached_property
    def words(self) -> list[str]:
        """The word of each type."""
        return self.text.tobytes().decode("utf-8").split("\n")

    @cached_property
    def character_ids(self) -> np.ndarray:
        """`word_to_character_ids` of each type's word, zeros for type 0; shape (types, characters), int16."""
        ends = np.append(np.flatnonzero(self.text == ord("\n")), len(self.text))
        begins = np.append(0, ends[:-1] + 1)
        lengths = np.minimum(ends - begins, self.max_characters - 2)
        ids = np.full((len(ends), self.max_characters), PADDING, dtype=np.int16)
        rows = np.repeat(np.arange(len(ends)), lengths)
        places = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ids[:, 0] = BEGIN_WORD
        ids[rows, 1 + places] = self.text[begins[rows] + places].astype(np.int16) + 1
        ids[np.arange(len(ends)), 1 + lengths] = END_WORD
        ids[0] = 0
        for boundary in (BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE):
            ids[boundary] = word_to_character_ids(RESERVED_WORDS[boundary], self.max_characters)
        return ids

    def vocabulary_numbers(self, numbers: Mapping[str, int], unknown: int) -> np.ndarray:
        """
        Returns the vocabulary's number of each type's word, shape (types,), int64. Only type 0 has the number
        0, "no word": a word of the text that looks like the vocabulary's padding is unknown.
        """
        result = np.fromiter(map(numbers.get, self.words, repeat(unknown)), np.int64, len(self.words))
        result[result == 0] = unknown
        result[0] = 0
        return result


@dataclass(frozen=True)
class ChunkFiles:
    """The place of a chunk, and its size, known without opening it."""

    path: Path
    tokens: int  # words, without sentence boundaries
    sentences: int

    def open(self, max_characters: int) -> CorpusChunk:
        """
        Reads the chunk into memory: if a mapped file were truncated, the process would crash.

        Raises `BiLmError` if its file is missing from the cache or damaged: zip has checksums.
        """
        try:
            with np.load(self.path) as arrays:
                return CorpusChunk(**arrays, max_characters=max_characters)
        except Exception as error:  # damage can make the reader raise anything
            raise_stop(error)
            raise BiLmError(
                f"{self.path}, text prepared for training, is gone or damaged ({error}); "
                f"remove the folder {self.path.parent} and start again"
            ) from None


def write_corpus_chunk(path: Path, words: Sequence[str], types: array, lengths: Sequence[int]) -> None:
    """
    Writes the file of a chunk. `words` are the words from type 3 on, `types` the type of each word of the
    text, `lengths` the number of words of each sentence.
    """
    encoded = [word.encode("utf-8") for word in (*RESERVED_WORDS, *words)]
    hashes = [blake2b(word, digest_size=8).digest() for word in encoded]
    counts = np.bincount(types, minlength=len(encoded))
    counts[[BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE]] += len(lengths)
    np.savez(
        path,
        types=np.asarray(types, dtype=np.uint32),
        starts=np.append(0, np.cumsum(lengths, dtype=np.int64)),
        counts=counts.astype(np.int64),
        hashes=np.frombuffer(b"".join([bytes(8), *hashes[1:]]), dtype="<i8").astype(np.int64),
        text=np.frombuffer(b"\n".join(encoded), np.uint8),
    )


class TypeTable(NamedTuple):
    """The features of each type of a text; zeros for no word."""

    hashes: np.ndarray  # Shape: (types,), equal for equal words, whatever chunk they are from
    character_ids: np.ndarray  # Shape: (types, max_characters)
    numbers: np.ndarray  # Shape: (types,), the vocabulary's

    def concat(self, other: "TypeTable", types: np.ndarray) -> tuple["TypeTable", np.ndarray]:
        """
        Appends those types of the other table that occur in `types`, an array of any shape. Returns the new
        table, and `types` in its numbering.
        """
        unique, places = np.unique(types, return_inverse=True)
        added = unique[unique >= len(RESERVED_WORDS)]
        renumbered = unique.astype(np.int32)
        renumbered[len(unique) - len(added) :] = np.arange(len(added)) + len(self.hashes)
        columns = (np.concatenate([mine, its[added]]) for mine, its in zip(self, other, strict=True))
        return TypeTable(*columns), renumbered[places].reshape(types.shape)


@dataclass(frozen=True)
class IndexedCorpus:
    """A corpus as a model with a vocabulary reads it."""

    chunks: Sequence[ChunkFiles]
    numbers: Mapping[str, int]  # of the vocabulary's words
    unknown: int  # the number of any other word
    max_characters: int  # slots per word

    def open(self, index: int) -> CorpusChunk:
        """Opens a chunk."""
        return self.chunks[index].open(self.max_characters)

    def type_table(self, chunk: CorpusChunk) -> TypeTable:
        """Looks up the types of a chunk."""
        numbers = chunk.vocabulary_numbers(self.numbers, self.unknown)
        return TypeTable(np.asarray(chunk.hashes), chunk.character_ids, numbers)

    def empty_table(self) -> TypeTable:
        """Returns the table of a chunk without text."""
        reserved = len(RESERVED_WORDS)
        character_ids = np.zeros((reserved, self.max_characters), dtype=np.int16)
        return TypeTable(np.zeros(reserved, np.int64), character_ids, np.zeros(reserved, np.int64))
