"""Tables of static word vectors: the one in this package, and text files of others."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.token_embedders.embedding import EmbeddingsTextFile
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from elmo_plugin.common.bundled import BUNDLED
from elmo_plugin.common.errors import raise_stop

BUNDLED_TABLES = ("english",)
"""The names of the tables in this package."""
KEYS_NAME = "keys.bin"
"""The file beside a table with what `stored_keys` returns."""


class WordTable(NamedTuple):
    """
    A vector for each of many words. Words are found by their keys, so a table has no words.

    keys: `word_key` of each word, in ascending order; shape (words,), int64
    vectors: shape (words, dim), float32; or int8, to be multiplied by `scales`
    scales: shape (words,), float32; empty if the vectors are float32
    """

    keys: Tensor
    vectors: Tensor
    scales: Tensor


def word_key(word: str) -> int:
    """Returns a number from -2^63 to 2^63 - 1 for a word, never 0: equal words have equal numbers."""
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def read_table(source: str) -> tuple[WordTable, str]:
    """
    Reads the table with this name, or a text file in the format of GloVe, word2vec or fastText.

    Returns the table and, for a table of this package, a digest of its content; otherwise "".
    """
    if source not in BUNDLED_TABLES:
        return read_text_table(source), ""
    file = BUNDLED / "words" / source / "vectors.safetensors"
    content, stored = file.read_bytes(), file.with_name(KEYS_NAME).read_bytes()
    return table_from_bytes(content, source, stored), _digest(content).hex()


def read_text_table(path: str) -> WordTable:
    """
    Reads vectors from a text file, plain or compressed, with a word and its numbers on each line. The first
    line may have the numbers of words and dimensions. If a word is there twice, its first vector counts.

    Raises `ConfigurationError`, naming the file and the line, if it has anything else.
    """
    keys: list[int] = []
    rows: list[np.ndarray] = []
    for word, row in _lines(path):
        keys.append(word_key(word))
        rows.append(row)
    if not rows:
        raise ConfigurationError(f"{path}: expected word vectors, got an empty file")
    return _sorted_table(np.array(keys), torch.from_numpy(np.stack(rows)), torch.empty(0))


def _lines(path: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yields the word and the vector of each line."""
    number, dim = 0, 0
    try:
        with EmbeddingsTextFile(path) as file:
            number = 1 if file.num_tokens else 0
            for line in file:
                number += 1
                fields = line.rstrip(" \r\n").split(" ")
                dim = dim or len(fields) - 1
                word = " ".join(fields[:-dim] if dim else fields)  # a few words of GloVe have spaces
                if not word or not dim:
                    raise ValueError(f"expected a word and its numbers, got {line[:50]!r}")
                row = np.array(fields[-dim:], dtype=np.float32)
                if not np.isfinite(row).all():
                    raise ValueError("expected finite numbers")
                yield word, row
            expected = file.num_tokens
    except (ValueError, OSError, EOFError, StopIteration) as error:
        raise_stop(error)
        place = f"{path}, line {number}" if number else path
        message = str(error) or "expected word vectors, got an empty file"
        raise ConfigurationError(f"{place}: {message}") from None
    first = 1 if expected else 0
    if expected and number - first != expected:
        got = number - first
        raise ConfigurationError(f"{path}: expected {expected} words, as its first line says, got {got}")


def quantize(words: Sequence[str], vectors: Tensor) -> bytes:
    """Writes vectors as 8-bit integers with a scale for each word, for `table_from_bytes`."""
    scales = (vectors.abs().amax(dim=1) / 127).clamp(min=1e-12)
    codes = (vectors / scales[:, None]).round().to(torch.int8)
    text = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    return save({"words": torch.from_numpy(text.copy()), "vectors": codes, "scales": scales})


def stored_keys(words: Sequence[str], content: bytes) -> bytes:
    """Returns the keys of a table's words, which take long to compute, after the digest of its content."""
    return _digest(content) + np.fromiter(map(word_key, words), "<i8", len(words)).tobytes()


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def table_from_bytes(content: bytes, name: str, stored: bytes = b"") -> WordTable:
    """
    Reads what `quantize` wrote, with its `stored_keys` if they are of this content. Raises
    `ConfigurationError`, beginning with `name`, if it is damaged.
    """
    try:
        tensors = load(content)
        if stored[:16] == _digest(content) and len(stored) == 16 + 8 * len(tensors["scales"]):
            keys = np.frombuffer(stored, "<i8", offset=16)
        else:
            words = bytes(tensors["words"].numpy()).decode().split("\n")
            keys = np.fromiter(map(word_key, words), np.int64, len(words))
        return _sorted_table(keys, tensors["vectors"], tensors["scales"])
    except (SafetensorError, KeyError, UnicodeError, IndexError) as error:
        raise ConfigurationError(f"{name}: the word vectors are damaged ({error})") from None


def _sorted_table(keys: np.ndarray, vectors: Tensor, scales: Tensor) -> WordTable:
    keys, rows = np.unique(keys.astype(np.int64), return_index=True)
    order = torch.from_numpy(rows)
    return WordTable(torch.from_numpy(keys), vectors[order], scales[order] if len(scales) else scales)
