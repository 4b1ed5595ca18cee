"""The caches, and how a biLM is run through them."""

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmError, BiLmOutput
from elmo_plugin.embedding.cache.memory_store import MemoryStore
from elmo_plugin.embedding.cache.records import sentence_keys
from elmo_plugin.embedding.cache.sqlite_store import SqliteStore

DTYPES = ("float32", "float16")
GIGABYTE = 10**9
_MOST_GB = 10**6


class Store(Protocol):
    """Holds records: the vectors of one sentence each, shape (num_layers, words, dim)."""

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        """Copies the record of each key into the row with its number. Returns the numbers that it lacks."""

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        """Takes in what it has room for."""


class ActivationCache:
    """
    Returns what a frozen biLM returns, which reads only the sentences that the cache does not have.

    All layers of a sentence are stored, under a digest of its characters and of the biLM (its weights, its
    options and its precision): whatever mixes them shares them, and a biLM that was changed finds none.

    Caches are equal, and return the same, if they are of one kind, place and `dtype`.

    # Parameters

    store : `Store`
        Where the vectors are.
    place : `Hashable`
        What tells stores from one another.
    dtype : `str`
        "float32", or "float16" for half the size. The vectors of a sentence are rounded to it also when they
        are computed, so that they do not depend on what the cache had.

    Raises `BiLmError` where `dtype` is another one.
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
        Runs a biLM on the sentences that are missing.

        # Parameters

        compute : `Callable[[Tensor], BiLmOutput]`
            Runs the biLM, frozen and without a state, on some of the sentences.
        digest : `bytes`
            Tells the biLM's content and precision from others.
        character_ids : `Tensor`
            Shape (batch, time, characters), on the biLM's device.
        num_layers, output_dim : `int`
            The sizes of what it computes.

        # Returns

        `BiLmOutput`
            What `compute(character_ids)` returns, rounded to the cache's `dtype`, in float32, on the device
            of `character_ids`.

        Raises `BiLmError` where float16 cannot hold a number of the biLM.
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
    Keeps vectors in the memory of this process, for as long as a model has it. When it is full, what was not
    asked for for the longest time makes room.

    # Parameters

    max_gb : `float`, optional (default = `4.0`)
        How many gigabytes (10^9 bytes) it may take.
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16", see `ActivationCache`.
    """

    def __init__(self, max_gb: float = 4.0, dtype: str = "float32") -> None:
        super().__init__(MemoryStore(_bytes(max_gb)), max_gb, dtype)


class SqliteCache(ActivationCache):
    """
    Keeps vectors in an SQLite file, for all processes of this machine and for later ones. Where it cannot be
    read or written, the biLM computes instead, and a warning says so once.

    # Parameters

    path : `str`
        Its folder, which is made if it is not there; relative to the working directory, or to the home of the
        user with `~`.
    max_gb : `float`, optional (default = `100.0`)
        Nothing is added to a file that has this many gigabytes (10^9 bytes).
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16", see `ActivationCache`.
    """

    def __init__(self, path: str, max_gb: float = 100.0, dtype: str = "float32") -> None:
        if not path:
            raise BiLmError("the path of a cache is a folder, not ''")
        folder = Path(path).expanduser().resolve()
        super().__init__(SqliteStore(folder, _bytes(max_gb)), folder, dtype)


def _bytes(max_gb: float) -> int:
    if not 0 < max_gb < _MOST_GB:
        raise BiLmError(f"max_gb of a cache must be positive and finite, not {max_gb}")
    return int(max_gb * GIGABYTE)
