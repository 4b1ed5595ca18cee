"""Caches of what a frozen biLM computes."""

import os
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmError, BiLmOutput
from elmo_plugin.bilm.io import DTYPES
from elmo_plugin.embedding.cache.memory_store import MemoryStore
from elmo_plugin.embedding.cache.records import sentence_keys
from elmo_plugin.embedding.cache.sqlite_store import SqliteStore

GIGABYTE = 10**9
_MOST_GB = 10**6


class Store(Protocol):
    """Holds records: the vectors of one sentence each, shape (num_layers, words, dim)."""

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        """Copies the record of each key into its row. Returns the numbers of the rows without a record."""

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        """Stores the rows for which it has room."""


class ActivationCache:
    """
    Runs a frozen biLM only on the sentences that are not stored yet.

    All layers of a sentence are stored under a digest of its characters and of the biLM (its weights, options
    and precision). So different mixes share them, and a changed biLM does not read the old ones.

    Caches of the same kind, place and `dtype` are equal, and return the same results.

    # Parameters

    store : `Store`
        Stores the vectors.
    place : `Hashable`
        Identifies the store.
    dtype : `str`
        "float32", or "float16" for half the size. Vectors that were just computed are rounded to it, too, so
        that they do not depend on what was stored.

    Raises `BiLmError` for another `dtype`.
    """

    def __init__(self, store: Store, place: Hashable, dtype: str) -> None:
        if dtype not in DTYPES:
            raise BiLmError(f"the dtype of a cache is {' or '.join(DTYPES)}, not {dtype!r}")
        self.store = store
        self.dtype = dtype
        self._identity = type(self), place, dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActivationCache) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def run(
        self,
        compute: Callable[[Tensor], BiLmOutput],
        digest: bytes,
        character_ids: Tensor,
        num_layers: int,
        output_dim: int,
    ) -> BiLmOutput:
        """
        Reads the stored sentences, and runs a biLM on the others.

        # Parameters

        compute : `Callable[[Tensor], BiLmOutput]`
            Runs the biLM, frozen and without a state, on some of the sentences.
        digest : `bytes`
            Identifies the biLM's content and precision.
        character_ids : `Tensor`
            Shape (batch, time, characters), on the biLM's device.
        num_layers, output_dim : `int`
            The sizes of its output.

        # Returns

        `BiLmOutput`
            What `compute(character_ids)` returns, rounded to the cache's `dtype`, in float32, on the device
            of `character_ids`.

        Raises `BiLmError` if a number is too large for float16.
        """
        with torch.inference_mode(False), torch.no_grad():
            mask = (character_ids > 0).any(dim=-1)  # Shape: (batch, time)
            keys, lengths = sentence_keys(character_ids, digest, self.dtype)
            layers = np.zeros((num_layers, *mask.shape, output_dim), self.dtype)
            rows = [layers[:, number, :length] for number, length in enumerate(lengths)]
            missing = self.store.read(keys, rows)
            if missing:
                layers[:, missing] = self._rounded(compute(character_ids[missing]).layers)
                self.store.write([keys[number] for number in missing], [rows[number] for number in missing])
            return BiLmOutput(torch.from_numpy(layers).to(character_ids.device, torch.float32), mask, None)

    def _rounded(self, layers: Tensor) -> np.ndarray:
        rounded = layers.to("cpu", getattr(torch, self.dtype))
        if self.dtype == "float16" and not rounded.isfinite().all():
            raise BiLmError(
                f"the biLM gives {layers.abs().max().item():g}, which a cache in float16 cannot hold: "
                'set its dtype to "float32"'
            )
        return rounded.numpy()


class MemoryCache(ActivationCache):
    """
    Stores vectors in memory, for as long as the model exists. When it is full, the least recently used are
    removed.

    # Parameters

    max_gb : `float`, optional (default = `4.0`)
        Its size in gigabytes (10^9 bytes).
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16", see `ActivationCache`.
    """

    def __init__(self, max_gb: float = 4.0, dtype: str = "float32") -> None:
        super().__init__(MemoryStore(_bytes(max_gb)), max_gb, dtype)


class SqliteCache(ActivationCache):
    """
    Stores vectors in an SQLite file, for all processes of this machine and for later ones. If it cannot be
    read or written, the biLM computes instead, and logs one warning.

    # Parameters

    path : `str`
        Its folder, which is created if necessary. It may begin with `~`.
    max_gb : `float`, optional (default = `100.0`)
        The size in gigabytes (10^9 bytes) from which on nothing is added to the file.
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16", see `ActivationCache`.
    """

    def __init__(self, path: str, max_gb: float = 100.0, dtype: str = "float32") -> None:
        if not path:
            raise BiLmError("the path of a cache is a folder, not ''")
        folder = Path(os.path.expanduser(path)).resolve()
        super().__init__(SqliteStore(folder, _bytes(max_gb)), folder, dtype)


def _bytes(max_gb: float) -> int:
    if not 0 < max_gb < _MOST_GB:
        raise BiLmError(f"max_gb of a cache must be positive and finite, not {max_gb}")
    return int(max_gb * GIGABYTE)
