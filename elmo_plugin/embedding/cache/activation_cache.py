"""The caches that a configuration can name, and how a biLM is run through them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from allennlp.common import Registrable
from allennlp.common.checks import ConfigurationError
from torch import Tensor

from elmo_plugin.bilm import BiLmOutput
from elmo_plugin.embedding.cache.keys import sentence_keys
from elmo_plugin.embedding.cache.lmdb_store import lmdb_store
from elmo_plugin.embedding.cache.memory_store import memory_store

DTYPES = ("float32", "float16")
GIGABYTE = 10**9


class Store(Protocol):
    """Where records are: the vectors of one sentence each, shape (layers, words, dim)."""

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        """Copies the record of each key into the row with its number. Returns the numbers that it lacks."""

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        """Takes in what it has room for."""


class ActivationCache(Registrable):
    """
    Gives what a frozen biLM gives, which reads only the sentences that the cache does not have.

    All layers of a sentence are kept, under a digest of its characters and of the biLM (its weights, its
    options and its precision): whatever mixes them shares them, and a biLM that was changed finds none.

    Caches are equal, and keep the same, if they are of one kind, place and `dtype`.

    # Parameters

    store : `Store`
        Where it keeps them.
    dtype : `str`
        "float32", or "float16" for half the size. The vectors of a sentence are rounded to it also when they
        are computed, so that they do not depend on what the cache had.

    Raises `ConfigurationError` where `dtype` is another one.
    """

    def __init__(self, store: Store, dtype: str) -> None:
        if dtype not in DTYPES:
            raise ConfigurationError(f"the dtype of a cache is {' or '.join(DTYPES)}, not {dtype!r}")
        self.store = store
        self.dtype = dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActivationCache) and (self.store, self.dtype) == (other.store, other.dtype)

    def __hash__(self) -> int:
        return hash((self.store, self.dtype))

    def run(
        self,
        compute: Callable[[Tensor], BiLmOutput],
        digest: bytes,
        character_ids: Tensor,
        num_layers: int,
        output_dim: int,
    ) -> BiLmOutput:
        """
        # Parameters

        bilm : `BiLm`
            Frozen and in evaluation mode.
        character_ids : `Tensor`
            Shape (batch, time, characters), on the biLM's device.

        # Returns

        `BiLmOutput`
            What `bilm(character_ids, keep_state=False)` gives, rounded to the cache's `dtype`.

        Raises `ConfigurationError` where float16 cannot hold a number of the biLM.
        """
        with torch.inference_mode(False), torch.no_grad():
            mask = (character_ids > 0).any(dim=-1)
            keys, lengths = sentence_keys(character_ids, digest, self.dtype)
            layers = np.zeros((num_layers, *mask.shape, output_dim), self.dtype)
            rows = [layers[:, number, :length] for number, length in enumerate(lengths)]
            missing = self.store.read(keys, rows)
            if missing:
                layers[:, missing] = self._compute(compute, character_ids[missing])
                self.store.write([keys[number] for number in missing], [rows[number] for number in missing])
            return BiLmOutput(torch.from_numpy(layers).to(character_ids.device, torch.float32), mask, None)

    def _compute(self, compute: Callable[[Tensor], BiLmOutput], character_ids: Tensor) -> np.ndarray:
        layers = compute(character_ids).layers
        rounded = layers.to("cpu", getattr(torch, self.dtype))
        if self.dtype == "float16" and not rounded.isfinite().all():
            raise ConfigurationError(
                f"the biLM gives {layers.abs().max().item():g}, which a cache in float16 cannot hold: "
                'set its dtype to "float32"'
            )
        return rounded.numpy()


@ActivationCache.register("memory")
class MemoryCache(ActivationCache):
    """
    In the memory of this process, for as long as a model has it. When it is full, what was not asked for
    for the longest time makes room.

    Registered as an `ActivationCache` with name "memory".

    # Parameters

    max_gb : `float`, optional (default = `4.0`)
        How many gigabytes (10^9 bytes) it may take. Caches with the same number are one.
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16", see `ActivationCache`.
    """

    def __init__(self, max_gb: float = 4.0, dtype: str = "float32") -> None:
        super().__init__(memory_store(_bytes(max_gb)), dtype)


@ActivationCache.register("lmdb")
class LmdbCache(ActivationCache):
    """
    In an LMDB file, for all processes of this machine and for all time. Where it cannot be read or written,
    the biLM computes instead, and a warning says so once.

    Registered as an `ActivationCache` with name "lmdb".

    # Parameters

    path : `str`
        Its folder, which is made if it is not there; relative to the working directory, or to the home of the
        user with `~`.
    max_gb : `float`, optional (default = `100.0`)
        Nothing is added to a file that has so many gigabytes (10^9 bytes). Nothing in it is ever replaced.
        Of several numbers for one path in a process the largest counts.
    dtype : `str`, optional (default = `"float32"`)
        "float32" or "float16", see `ActivationCache`.
    """

    def __init__(self, path: str, max_gb: float = 100.0, dtype: str = "float32") -> None:
        super().__init__(lmdb_store(Path(path).expanduser().resolve(), _bytes(max_gb)), dtype)


def _bytes(max_gb: float) -> int:
    if max_gb <= 0:
        raise ConfigurationError(f"max_gb of a cache must be positive, not {max_gb}")
    return int(max_gb * GIGABYTE)
