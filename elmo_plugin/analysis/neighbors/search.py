"""Finds the vectors of a corpus that are the most similar to one, by cosine."""

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.analysis.neighbors.index import CorpusIndex
from elmo_plugin.analysis.neighbors.report import Neighbor
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write

ROWS_AT_ONCE = 8_192  # fit into a processor's caches
MIN_ROWS_OF_FAISS = 10_000  # fewer do not train its codes
_LISTS_PROBED = 32
_CANDIDATES = 20  # for each neighbour


class Search(Protocol):
    """Finds the rows that are the most similar to a vector."""

    def nearest(self, vector: Tensor, k: int) -> list[tuple[int, float]]:
        """Returns at most `k` rows with their cosines, the nearest first. `vector` has length 1."""


class ExactSearch:
    """
    Compares with all vectors, block by block.

    # Parameters

    index : `CorpusIndex`
        The corpus.
    """

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index

    def nearest(self, vector: Tensor, k: int) -> list[tuple[int, float]]:
        best, rows = torch.empty(0), torch.empty(0, dtype=torch.long)
        for number, block in enumerate(self._index.blocks(ROWS_AT_ONCE)):
            cosines = _cosines(block, vector)
            of_block, in_block = cosines.topk(min(k, len(cosines)))
            start = number * ROWS_AT_ONCE
            best, rows = torch.cat([best, of_block]), torch.cat([rows, in_block + start])
            best, order = best.topk(min(k, len(best)))
            rows = rows[order]
        return list(zip(rows.tolist(), best.tolist(), strict=True))


def import_faiss() -> Any:
    """Returns the module `faiss`. Raises `BiLmError` if it is not installed."""
    try:
        return import_module("faiss")
    except ImportError:
        how = "install elmo_plugin[faiss], or faiss-cpu itself"
        raise BiLmError(f"--faiss needs faiss: {how}") from None


class ApproximateSearch:
    """
    Asks faiss for candidates, and compares with these: for corpora of hundreds of millions of words. Vectors
    are in lists by their nearest centre, with a code of a byte for each four dimensions. The nearest 32 lists
    are searched. The index of faiss is built once, in the index's folder.

    # Parameters

    index : `CorpusIndex`
        Of at least 10,000 words.

    Raises `BiLmError` if faiss is not installed, or the corpus is too small for it.
    """

    def __init__(self, index: CorpusIndex) -> None:
        faiss = import_faiss()
        if len(index.vectors) < MIN_ROWS_OF_FAISS:
            at_least = f"{MIN_ROWS_OF_FAISS:,} words, not {len(index.vectors):,}; search without --faiss"
            raise BiLmError(f"--faiss: the corpus must have at least {at_least}")
        path = index.folder / "vectors.faiss"
        if not path.exists():
            _build_faiss(faiss, index.vectors, path)
        self._vectors = index.vectors
        self._faiss = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
        self._faiss.nprobe = _LISTS_PROBED

    def nearest(self, vector: Tensor, k: int) -> list[tuple[int, float]]:
        _, found = self._faiss.search(vector[None].numpy(), k * _CANDIDATES)
        rows = np.sort(found[0][found[0] >= 0])
        cosines = _cosines(self._vectors[rows], vector)
        best, order = cosines.topk(min(k, len(rows)))
        return list(zip(rows[order.numpy()].tolist(), best.tolist(), strict=True))


def _cosines(vectors: np.ndarray, vector: Tensor) -> Tensor:
    return torch.from_numpy(vectors).float() @ vector


def _build_faiss(faiss: Any, vectors: np.ndarray, path: Path) -> None:
    num_words, dim = vectors.shape
    num_lists = min(int(4 * num_words**0.5), num_words // 39)  # faiss wants 39 vectors to train a list
    code_bytes = next(size for size in range(max(dim // 4, 1), 0, -1) if dim % size == 0)
    index = faiss.index_factory(dim, f"IVF{num_lists},PQ{code_bytes}", faiss.METRIC_INNER_PRODUCT)
    sample = np.random.default_rng(1).choice(num_words, min(num_words, 64 * num_lists), replace=False)
    index.train(vectors[np.sort(sample)].astype(np.float32))
    for start in range(0, num_words, ROWS_AT_ONCE):
        index.add(vectors[start : start + ROWS_AT_ONCE].astype(np.float32))
    with atomic_write(path) as temporary:
        faiss.write_index(index, str(temporary))


def find_neighbors(
    index: CorpusIndex, search: Search, vector: Tensor, k: int, leave_out: list[str]
) -> list[Neighbor]:
    """
    Returns the `k` words of a corpus that are the most similar to a vector, each in its sentence.

    # Parameters

    index : `CorpusIndex`
        The corpus.
    search : `Search`
        How it is searched.
    vector : `Tensor`
        Of length 1. Shape (dim,).
    k : `int`
        At most this many are returned.
    leave_out : `list[str]`
        A sentence to skip, wherever it is in the corpus: that of the word itself.
    """
    wanted = k
    while True:
        found = search.nearest(vector, wanted)
        neighbors = [Neighbor(*index.occurrence(row), cosine) for row, cosine in found]
        neighbors = [each for each in neighbors if each.words != leave_out]
        if len(neighbors) >= k or len(found) < wanted:
            return neighbors[:k]
        wanted *= 2
