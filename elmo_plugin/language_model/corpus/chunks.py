"""Chunks of tokenized text in files with a checksum; they know nothing of any vocabulary."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import repeat
from pathlib import Path

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
from elmo_plugin.common.files import checksum

BEGIN_SENTENCE_TYPE = 1
END_SENTENCE_TYPE = 2
RESERVED_WORDS = ["", BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN]  # the words of types 0, 1 and 2
_ARRAYS = ("types", "starts", "counts", "hashes")
_TEXT = "words.txt"


@dataclass
class CorpusChunk:
    """
    Sentences as numbers of words. The numbers are the chunk's own, its types: 0 stands for no word, 1 and 2
    are `<S>` and `</S>`, and from 3 on words are numbered in the order of their first appearance.

    types: shape (tokens,), uint32, the type of each word of the text; the sentences' boundaries are not in it
    starts: shape (sentences + 1,), int64, where each sentence begins in `types`, and the end of the last one
    counts: shape (types,), int64, how often each occurs; `<S>` and `</S>` occur once a sentence
    hashes: shape (types,), int64, a hash of each word, the same in all chunks; 0 for type 0
    text: shape (bytes,), uint8, the words of all types as UTF-8, with a line feed between any two
    max_characters: character slots per word
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
        """Shape (types, max_characters), int16: `word_to_character_ids` of each word; zeros for type 0."""
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
        Shape (types,), int64: the number of each type's word, `unknown` where it has none. Only type 0 has
        the number 0, which stands for "no word": a word of the text that looks like the vocabulary's padding
        is unknown.
        """
        found = np.fromiter(map(numbers.get, self.words, repeat(unknown)), np.int64, len(self.words))
        found[found == 0] = unknown
        found[0] = 0
        return found


@dataclass(frozen=True)
class ChunkFiles:
    """
    Where a chunk is, and its size, which is known without opening it.

    path: what the names of its files begin with
    tokens: its words, without the sentences' boundaries
    sentences: their number
    checksum: of all its files
    """

    path: Path
    tokens: int
    sentences: int
    checksum: int

    def open(self, max_characters: int) -> CorpusChunk:
        """
        Reads the chunk into memory: if a mapped file were truncated, the process would crash.

        Raises `BiLmError` where its files are gone from the cache or damaged.
        """
        try:
            arrays = {name: np.load(_file(self.path, f"{name}.npy")) for name in _ARRAYS}
            text = np.fromfile(_file(self.path, _TEXT), np.uint8)
            if checksum(*arrays.values(), text) != self.checksum:
                raise ValueError("it is not what was written")
        except Exception as error:  # damage can make the reader raise anything
            raise_stop(error)
            raise BiLmError(
                f"{self.path}.*, text prepared for training, is gone or damaged ({error}); "
                f"remove the folder {self.path.parent} and start again"
            ) from None
        return CorpusChunk(**arrays, text=text, max_characters=max_characters)


def write_corpus_chunk(path: Path, words: Sequence[str], types: array, lengths: Sequence[int]) -> int:
    """
    Writes the files of a chunk: `words` are those from type 3 on, none with white space in it; `types` has
    the type of each word of the text, 32 bits; `lengths` the number of words of each sentence. Returns their
    checksum.
    """
    encoded = [word.encode("utf-8") for word in (*RESERVED_WORDS, *words)]
    hashes = [blake2b(word, digest_size=8).digest() for word in encoded]
    counts = np.bincount(types, minlength=len(encoded))
    counts[[BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE]] += len(lengths)
    arrays = {
        "types": np.asarray(types, dtype=np.uint32),
        "starts": np.append(0, np.cumsum(lengths, dtype=np.int64)),
        "counts": counts.astype(np.int64),
        "hashes": np.frombuffer(b"".join([bytes(8), *hashes[1:]]), dtype="<i8").astype(np.int64),
    }
    for name in _ARRAYS:
        np.save(_file(path, f"{name}.npy"), arrays[name])
    text = b"\n".join(encoded)
    _file(path, _TEXT).write_bytes(text)
    return checksum(*arrays.values(), text)


def _file(path: Path, name: str) -> Path:
    return path.with_name(f"{path.name}.{name}")
