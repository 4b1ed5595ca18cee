"""Tables of static word vectors: from this package, and from text files of other programs."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.token_embedders.embedding import EmbeddingsTextFile
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from elmo_plugin.common.bundled import BUNDLED
from elmo_plugin.common.word_keys import DIGEST_SIZE, KEYS_NAME, word_key

BUNDLED_TABLES = ("english",)
"""The names of the tables in this package."""


class WordTable(NamedTuple):
    """
    A vector for each of many words. Words are found by their keys; the words themselves are not
    stored.

    keys: `word_key` of each word, in ascending order; shape (words,), int64
    vectors: shape (words, dim), float32; or int8, to be multiplied by `scales`
    scales: shape (words,), float32; empty if the vectors are float32
    """

    keys: Tensor
    vectors: Tensor
    scales: Tensor

    def float_vectors(self) -> Tensor:
        """Returns all vectors as float32."""
        if len(self.scales) == 0:
            return self.vectors
        return self.vectors * self.scales.unsqueeze(-1)


def is_table(table: WordTable) -> bool:
    """Returns whether tensors that were read as a table have the types and shapes of one."""
    keys, vectors, scales = table
    if not all(isinstance(tensor, Tensor) for tensor in table):
        return False
    if keys.dtype != torch.int64 or keys.dim() != 1 or vectors.dim() != 2 or scales.dim() != 1:
        return False
    num_words = len(keys)
    if num_words == 0 or len(vectors) != num_words or not scales.is_floating_point():
        return False
    if len(scales) == 0:
        return vectors.is_floating_point()
    has_numbers = vectors.dtype == torch.int8 or vectors.is_floating_point()
    return has_numbers and len(scales) == num_words


def read_table(source: str) -> tuple[WordTable, str]:
    """
    Reads the table of this package with the name `source`, or else the text file at this path, in
    the format of GloVe, word2vec or fastText.

    Returns the table and, for a table of this package, a digest of its content; otherwise "".
    """
    if source not in BUNDLED_TABLES:
        return read_text_table(source), ""
    file = BUNDLED / "words" / source / "vectors.safetensors"
    content = file.read_bytes()
    keys = file.with_name(KEYS_NAME).read_bytes()  # the `keys` of `WordTable`, packed
    table = table_from_bytes(content, keys, name=source)
    return table, digest(content).hex()


def read_text_table(path: str) -> WordTable:
    """
    Reads vectors from a text file, plain or compressed, with a word and its numbers on each line.
    The first line may say how many words and dimensions there are. If a word occurs twice, its
    first vector counts.

    Raises `ConfigurationError`, naming the file and the line, if the content is anything else.
    """
    keys: list[int] = []
    rows: list[np.ndarray] = []
    for word, row in _words_and_vectors(path):
        keys.append(word_key(word))
        rows.append(row)
    return _sorted_table(
        keys=np.array(keys),
        vectors=torch.from_numpy(np.stack(rows)),
        scales=torch.empty(0),  # the vectors are float32
    )


def _words_and_vectors(path: str) -> Iterator[tuple[str, np.ndarray]]:
    """
    Yields the words of a text file, at least one, and their vectors. Raises `ConfigurationError`,
    naming the file and the line, if the file is empty or contains anything else.
    """
    line_number = 0
    num_words = 0
    dim = 0
    try:
        with EmbeddingsTextFile(path) as file:
            # The first line may say how many words and dimensions there are. AllenNLP reads it
            # already, and keeps only the larger number.
            larger_number = file.num_tokens
            if larger_number:
                line_number = 1
            for line in file:
                line_number += 1
                # fastText ends its lines with a space.
                fields = line.rstrip(" \r\n").split(" ")
                if dim == 0:
                    dim = len(fields) - 1  # assumes that the first word contains no spaces
                yield _word_and_vector(fields, dim)
                num_words += 1
    except (ValueError, OSError, EOFError, StopIteration) as error:
        place = path
        if line_number > 0:
            place = f"{path}, line {line_number}"
        # AllenNLP raises `StopIteration`, without a message, for an empty file.
        message = str(error) or "expected word vectors, got an empty file"
        raise ConfigurationError(f"{place}: {message}") from None
    # The larger number may also be the number of dimensions.
    if larger_number and larger_number not in (num_words, dim):
        raise ConfigurationError(
            f"{path}: expected {larger_number} words, as its first line says, got {num_words}"
        )


def _word_and_vector(fields: list[str], dim: int) -> tuple[str, np.ndarray]:
    """
    Returns the word of a line and its vector of `dim` numbers. Raises `ValueError` if the line does
    not have them. A few words of GloVe have spaces, so a line may have more fields than a word and
    its numbers.
    """
    word = " ".join(fields[:-dim])
    if not word:  # also if the first line has a single field, so that `dim` is 0
        line = " ".join(fields)
        raise ValueError(f"expected a word and its numbers, got {line[:50]!r}")
    vector = np.array(fields[-dim:], dtype=np.float32)
    if not np.isfinite(vector).all():
        raise ValueError("expected finite numbers")
    return word, vector


def table_from_bytes(content: bytes, keys: bytes, name: str) -> WordTable:
    """
    Reads vectors of 8-bit integers and their scales from `content`. `keys` begins with a digest of
    that content; the `word_key` of each word follows. Raises `ConfigurationError`, beginning with
    `name`, if either is damaged.
    """
    try:
        tensors = load(content)
        if keys[:DIGEST_SIZE] != digest(content):
            raise ValueError(f"{KEYS_NAME} is of other vectors")
        num_words = len(tensors["scales"])
        word_keys = np.frombuffer(keys, "<i8", count=num_words, offset=DIGEST_SIZE)
        return _sorted_table(word_keys, tensors["vectors"], tensors["scales"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise ConfigurationError(f"{name}: the word vectors are damaged ({error})") from None


def digest(content: bytes) -> bytes:
    """Returns a digest of the vectors of a table of this package."""
    return blake2b(content, digest_size=DIGEST_SIZE).digest()


def _sorted_table(keys: np.ndarray, vectors: Tensor, scales: Tensor) -> WordTable:
    """
    Returns the table of words with these keys and vectors, sorted by the keys. If a key occurs
    twice, its first vector is kept.
    """
    sorted_keys, first_rows = np.unique(keys.astype(np.int64), return_index=True)
    order = torch.from_numpy(first_rows)
    if len(scales) > 0:  # empty if the vectors are float32
        scales = scales[order]
    return WordTable(torch.from_numpy(sorted_keys), vectors[order], scales)
