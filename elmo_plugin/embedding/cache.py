"""Caches of a frozen biLM's vectors of sentences, for later batches, epochs and trainings."""

import os
from collections.abc import Callable
from hashlib import blake2b
from numbers import Real
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmError, BiLmOutput
from elmo_plugin.bilm.io import DTYPES
from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.integers import ceil_div
from elmo_plugin.embedding.memory_store import MemoryStore
from elmo_plugin.embedding.sqlite_store import SqliteStore

GIGABYTE = 10**9
KEY_SIZE = 16  # bytes
_MAX_GB = 10**6


class ActivationCache:
    """
    Runs a frozen biLM only on the sentences that are not stored yet.

    All layers of a sentence are stored under a digest of its characters and of the biLM (its
    weights, options and precision). So different mixes share the layers, and a changed biLM does
    not read the old one's layers.

    `dtype` is "float32", or "float16" for half the size. Vectors that were just computed are also
    rounded to it, so that results never depend on the cache's contents.
    """

    def __init__(self, store: MemoryStore | SqliteStore, dtype: str) -> None:
        check_choice("dtype", dtype, DTYPES)
        self.store = store
        self.dtype = dtype

    def run(
        self,
        compute: Callable[[Tensor], BiLmOutput],
        digest: bytes,
        character_ids: Tensor,
        num_layers: int,
        output_dim: int,
    ) -> BiLmOutput:
        """
        Returns the output of a frozen biLM without a state for `character_ids`. `compute` runs the
        biLM, but only on the sentences that are not stored. `digest` identifies the biLM's content
        and precision.

        All vectors are rounded to the cache's `dtype`, and returned in float32 on the device of
        `character_ids`. Raises `BiLmError` if a number is too large for float16.
        """
        # Tensors that are made in the caller's inference mode could not be used in training later.
        with torch.inference_mode(False), torch.no_grad():
            keys, lengths = sentence_keys(character_ids, digest, self.dtype)
            batch_size, max_length, _ = character_ids.shape
            layers = np.zeros((num_layers, batch_size, max_length, output_dim), self.dtype)
            # Views of `layers`, one for each sentence: to write to them is to write to `layers`.
            # Shape of each: (num_layers, words, dim)
            rows = [layers[:, number, :length] for number, length in enumerate(lengths)]
            missing = self.store.read(keys, rows)  # fills the rows of the stored sentences
            if missing:
                output = compute(character_ids[missing])
                layers[:, missing] = self._rounded(output.layers)  # fills all other rows
                missing_keys = [keys[number] for number in missing]
                missing_rows = [rows[number] for number in missing]
                self.store.write(missing_keys, missing_rows)
            is_word = np.arange(max_length) < np.array(lengths)[:, None]  # Shape: (batch, time)
            device = character_ids.device
            return BiLmOutput(
                layers=torch.from_numpy(layers).to(device, torch.float32),
                mask=torch.from_numpy(is_word).to(device),
                state=None,
            )

    def _rounded(self, layers: Tensor) -> np.ndarray:
        """
        Returns the layers as an array of the cache's `dtype`. Raises `BiLmError` if a number is too
        large for float16.
        """
        rounded = layers.to("cpu", getattr(torch, self.dtype))
        if self.dtype == "float16" and not rounded.isfinite().all():
            largest = layers.abs().max().item()
            raise BiLmError(
                f"a cache in float16 cannot hold the biLM's {largest:g}: "
                'set its dtype to "float32"'
            )
        return rounded.numpy()


class MemoryCache(ActivationCache):
    """
    Stores vectors in memory, for as long as the model exists. When the cache is full, the sentences
    that were not used for the longest time are removed.

    # Parameters

    max_gb : `float`, optional (default = `4.0`)
        Its size in gigabytes (10^9 bytes).
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16".
    """

    def __init__(self, max_gb: float = 4.0, dtype: str = "float32") -> None:
        super().__init__(MemoryStore(_size_in_bytes(max_gb)), dtype)


class SqliteCache(ActivationCache):
    """
    Stores vectors in an SQLite file, for all processes of this machine and for later ones. If the
    file cannot be read or written, sentences are computed instead, and one warning is logged.

    # Parameters

    path : `str`
        Its folder, created if necessary. It may begin with `~`.
    max_gb : `float`, optional (default = `100.0`)
        The largest size of the file in gigabytes (10^9 bytes). A full file is still read, but
        nothing is added.
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16".
    """

    def __init__(self, path: str, max_gb: float = 100.0, dtype: str = "float32") -> None:
        if not path:
            raise BiLmError("the path of a cache is a folder, not ''")
        folder = Path(os.path.expanduser(path)).resolve()
        super().__init__(SqliteStore(folder, _size_in_bytes(max_gb)), dtype)


def sentence_keys(
    character_ids: Tensor, bilm_digest: bytes, dtype: str
) -> tuple[list[bytes], list[int]]:
    """
    Returns the key of each sentence, and the number of its words. The key is a hash of the
    characters, of the biLM, and of the type of the stored vectors. `character_ids` are integers of
    any type, shape (batch, time, characters), with rows of zeros after a sentence's last word.
    """
    ids = character_ids.to("cpu", torch.int32).contiguous().numpy()
    bytes_per_word = ids.shape[-1] * ids.itemsize
    keys = []
    lengths = []
    for sentence in ids:
        # Without its padding, a sentence has the same key in every batch. Padding is zeros. If the
        # last word itself ends in zeros, they are removed too, so the length is rounded up.
        content = sentence.tobytes().rstrip(b"\0")
        # A blake2b hash also depends on its own `key`, and on `person`, its "personalization".
        hasher = blake2b(content, key=bilm_digest, person=dtype.encode(), digest_size=KEY_SIZE)
        keys.append(hasher.digest())
        lengths.append(ceil_div(len(content), bytes_per_word))
    return keys, lengths


def _size_in_bytes(max_gb: float) -> int:
    """Returns the size of a cache in bytes. Raises `BiLmError` if no cache can have it."""
    if not isinstance(max_gb, Real) or not 0 < max_gb < _MAX_GB:
        raise BiLmError(f"max_gb of a cache: expected 0 < max_gb < {_MAX_GB}, got {max_gb!r:.60}")
    return int(max_gb * GIGABYTE)
