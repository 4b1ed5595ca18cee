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
    Sentences whose words are numbers. For example, the sentences "no means no" and "yes" have the
    `words` no, means and yes, the `tokens` 0, 1, 0 and 2, and the `starts` 0, 3 and 4.
    """

    words: list[str]  # the distinct ones, in the order of their first appearance
    tokens: np.ndarray  # Shape: (tokens,), uint32, the place in `words` of each word of the text
    starts: np.ndarray  # Shape: (sentences + 1,), int64, where sentences begin; the last one's end


class IndexedChunk(NamedTuple):
    """Sentences as types of an `IndexedCorpus`."""

    types: np.ndarray  # Shape: (tokens,), int32, the type of each word of the text
    starts: np.ndarray  # Shape: (sentences + 1,), int64, where sentences begin; the last one's end


@dataclass(frozen=True)
class ChunkFile:
    """A chunk in a file. Its size is known without opening the file."""

    path: Path
    tokens: int  # the number of words, without sentence boundaries
    sentences: int

    def read(self, *names: str) -> list[np.ndarray]:
        """
        Reads the arrays of these names from the file. The file is not mapped into memory: if a
        mapped file were truncated, the process would crash.

        Raises `BiLmError` if the file is missing or damaged. Damage is noticed because the file is
        a zip archive, with checksums.
        """
        try:
            with np.load(self.path) as arrays:
                return [arrays[name] for name in names]
        except Exception as error:  # damage can make the reader raise anything
            # A signal to stop and a lack of memory do not come from damage.
            raise_if_sigterm_or_out_of_memory(error)
            raise BiLmError(
                f"{self.path}, text prepared for training, is gone or damaged ({error}); "
                f"remove the folder {self.path.parent} and start again"
            ) from None

    def open(self) -> CorpusChunk:
        """Reads the chunk into memory. Raises `BiLmError` if its file is missing or damaged."""
        text, tokens, starts = self.read("text", "tokens", "starts")
        return CorpusChunk(words=split_lines(text), tokens=tokens, starts=starts)


def write_corpus_chunk(
    path: Path, words: Sequence[str], tokens: Sequence[int], lengths: Sequence[int]
) -> None:
    """
    Writes the file of a chunk. `words` and `tokens` are as in `CorpusChunk`, and `lengths` are the
    numbers of words in its sentences.
    """
    np.savez(
        path,
        text=join_lines(words),
        tokens=np.asarray(tokens, dtype=np.uint32),
        starts=np.append(0, np.cumsum(lengths, dtype=np.int64)),
    )


class IndexedCorpus:
    """
    A corpus as a model with a vocabulary reads it. Its distinct words are numbered: the number of a
    word is called its type. Type 0 is no word, 1 and 2 are `<S>` and `</S>`.
    """

    def __init__(
        self,
        chunks: Sequence[ChunkFile],
        vocabulary: Mapping[str, int],
        unknown_number: int,
        max_characters: int,
    ) -> None:
        """
        `vocabulary` has the number of each word that the model predicts. All other words have the
        `unknown_number`.
        """
        self.chunks = chunks
        self.unknown_number = unknown_number
        self._types = {word: word_type for word_type, word in enumerate(RESERVED_WORDS)}
        for chunk in chunks:
            for word in chunk.open().words:
                self._types.setdefault(word, len(self._types))
        # The list and the arrays below have an entry for each type.
        self.words = list(self._types)
        self.character_ids = _character_ids(self.words, max_characters)  # zeros for type 0
        self.hashes = _hashes(self.words, self.character_ids)
        self.vocabulary_numbers = self._look_up_types(vocabulary)

    def _look_up_types(self, vocabulary: Mapping[str, int]) -> np.ndarray:
        """
        Returns the number that the word of each type has in the vocabulary, shape (types,). Only
        type 0 gets the number 0: a target 0 means that there is nothing to predict.
        """
        numbers = [0]  # for type 0
        for word in self.words[1:]:
            number = vocabulary.get(word, self.unknown_number)
            if number == 0:  # the word is spelled like the vocabulary's padding
                number = self.unknown_number
            numbers.append(number)
        return np.array(numbers)

    def open(self, index: int) -> IndexedChunk:
        """
        Reads the chunk with this index into memory. Raises `BiLmError` if its file is missing or
        damaged.
        """
        chunk = self.chunks[index].open()
        type_of_word = np.array([self._types[word] for word in chunk.words], dtype=np.int32)
        return IndexedChunk(types=type_of_word[chunk.tokens], starts=chunk.starts)


def _hashes(words: Sequence[str], character_ids: np.ndarray) -> np.ndarray:
    """
    Returns a hash of the word of each type, shape (types,), int64; 0 for type 0, no word.

    The words of a batch are ordered by their hashes, because types depend on the corpus: the same
    words have the same order in any corpus. The biLM cannot tell words with the same character ids
    apart, so such words get the same hash.
    """
    digests = [bytes(8)]  # zeros for type 0
    for word in words[1:]:
        digests.append(blake2b(word.encode(), digest_size=8).digest())
    hashes = np.frombuffer(b"".join(digests), dtype="<i8").copy()  # without a copy it is read-only
    # The character ids of a word are its bytes between two marks, and bytes that do not fit are cut
    # off. So only words that fill all the room can have the same ids as another word. Each gets the
    # hash of the first word with its ids.
    max_bytes = character_ids.shape[1] - 2
    first_type_with_ids: dict[bytes, int] = {}
    for word_type, word in enumerate(words):
        if len(word.encode()) >= max_bytes:
            ids = character_ids[word_type].tobytes()
            first_type = first_type_with_ids.setdefault(ids, word_type)
            hashes[word_type] = hashes[first_type]
    return hashes


def _character_ids(words: Sequence[str], max_characters: int) -> np.ndarray:
    """
    Returns the character ids of the word of each type, shape (types, max_characters), int16: the
    same ids as `word_to_character_ids` returns, and zeros for type 0. All words are converted at
    once, because a text may have a million distinct ones.
    """
    text = join_lines(words)  # the bytes of all words, with line feeds between them
    # Where each word begins and ends in `text`. Shape: (types,)
    ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
    begins = np.append(0, ends[:-1] + 1)
    # How many bytes of each word are read. Two ids mark its begin and its end. Shape: (types,)
    lengths = np.minimum(ends - begins, max_characters - 2)
    # For each byte that is read: the type of its word, and its place in the word. Shape: (bytes,)
    type_of_byte = np.repeat(np.arange(len(words)), lengths)
    bytes_before_word = np.cumsum(lengths) - lengths
    place_in_word = np.arange(len(type_of_byte)) - bytes_before_word[type_of_byte]
    read_bytes = text[begins[type_of_byte] + place_in_word]
    ids = np.full((len(words), max_characters), PADDING, dtype=np.int16)
    ids[:, 0] = BEGIN_WORD
    # The id of a byte is greater by 1, because the id 0 stands for no word.
    ids[type_of_byte, 1 + place_in_word] = read_bytes.astype(np.int16) + 1
    ids[np.arange(len(words)), 1 + lengths] = END_WORD
    # Type 0 is no word, and sentence boundaries have ids of their own instead of their bytes.
    ids[0] = 0
    for boundary in (BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE):
        ids[boundary] = word_to_character_ids(RESERVED_WORDS[boundary], max_characters)
    return ids
