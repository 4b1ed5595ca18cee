"""A search finds what comparing with every vector finds."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.analysis.neighbors import (
    ApproximateSearch,
    ExactSearch,
    find_neighbors,
    open_index,
    search,
    unit_length,
)
from elmo_plugin.bilm import BiLm, BiLmError


def unit_vectors(num_words: int, dim: int, seed: int) -> np.ndarray:
    generator = torch.Generator().manual_seed(seed)
    return unit_length(torch.randn(num_words, dim, generator=generator)).half().numpy()


class OpenIndex(NamedTuple):
    """What a search needs of an index."""

    vectors: np.ndarray
    folder: Path = Path()

    def blocks(self, rows: int) -> Iterator[np.ndarray]:
        for start in range(0, len(self.vectors), rows):
            yield self.vectors[start : start + rows]


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 70), st.integers(0, 100))
def test_blocks_give_what_sorting_all_cosines_gives(rows: int, block: int, k: int, seed: int) -> None:
    vectors = unit_vectors(rows, 8, seed)
    query = torch.from_numpy(unit_vectors(1, 8, seed + 1)[0]).float()
    cosines = vectors.astype(np.float64) @ query.double().numpy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "ROWS_AT_ONCE", block)
        found = ExactSearch(OpenIndex(vectors)).nearest(query, k)  # type: ignore[arg-type]
    np.testing.assert_allclose([cosine for _, cosine in found], np.sort(cosines)[::-1][:k], atol=1e-6)
    np.testing.assert_allclose([cosines[row] for row, _ in found], [cosine for _, cosine in found], atol=1e-6)
    assert len({row for row, _ in found}) == len(found) == min(k, rows)


def test_the_sentence_of_the_query_is_left_out_wherever_it_is(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("so it is .\n" * 9 + "it is so .\nwas it so ?\n")
    bilm = BiLm.from_pretrained("tiny")
    index = open_index(tmp_path / "index", bilm, str(tmp_path / "corpus.txt"), 2)
    vector = unit_length(bilm.embed([["so", "it", "is", "."]])[0][2, 0])
    neighbors = find_neighbors(index, ExactSearch(index), vector, 3, ["so", "it", "is", "."])
    assert len(neighbors) == 3
    assert {" ".join(each.words) for each in neighbors} == {"it is so .", "was it so ?"}
    everything = find_neighbors(index, ExactSearch(index), vector, 100, ["so", "it", "is", "."])
    assert len(everything) == 8  # fewer than asked for: the words of the two other sentences


def test_faiss_finds_most_of_what_the_exact_search_finds(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    centres = unit_vectors(300, 16, seed=1)[np.arange(12_000) % 300].astype(np.float32)
    noise = unit_vectors(12_000, 16, seed=2).astype(np.float32)
    vectors = unit_length(torch.from_numpy(centres + 0.5 * noise)).half().numpy()
    index = OpenIndex(vectors, tmp_path)
    exact, approximate = ExactSearch(index), ApproximateSearch(index)  # type: ignore[arg-type]
    shared = 0
    for row in range(0, 12_000, 600):
        vector = torch.from_numpy(vectors[row].astype(np.float32))
        expected, found = exact.nearest(vector, 10), approximate.nearest(vector, 10)
        shared += len({row for row, _ in expected} & {row for row, _ in found})
        assert found[0] == pytest.approx(expected[0], abs=1e-5)  # the word itself, with its exact cosine
    assert shared / 200 > 0.9


def test_faiss_is_for_large_corpora(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    with pytest.raises(BiLmError, match="at least 10,000 words, not 50"):
        ApproximateSearch(OpenIndex(unit_vectors(50, 8, 1), tmp_path))  # type: ignore[arg-type]


def test_without_faiss_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(BiLmError, match=r"install elmo_plugin\[faiss\]"):
        ApproximateSearch(OpenIndex(unit_vectors(50, 8, 1), tmp_path))  # type: ignore[arg-type]
