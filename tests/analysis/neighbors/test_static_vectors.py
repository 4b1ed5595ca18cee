"""Static vectors are read from the formats of GloVe and word2vec."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from elmo_plugin.analysis.neighbors import StaticVectors
from elmo_plugin.bilm import BiLmError


def test_neighbours_are_those_of_scikit_learn() -> None:
    vectors = np.random.default_rng(1).normal(size=(40, 5)).astype(np.float32)
    words = [f"w{number}" for number in range(40)]
    oracle = NearestNeighbors(n_neighbors=7, metric="cosine").fit(vectors)
    distances, rows = oracle.kneighbors(vectors[3:4])
    expected = [(words[row], 1 - distance) for row, distance in zip(rows[0], distances[0], strict=True)][1:]
    found = StaticVectors(words, vectors).nearest("w3", 6)
    assert found is not None
    assert [word for word, _ in found] == [word for word, _ in expected]
    np.testing.assert_allclose([cosine for _, cosine in found], [c for _, c in expected], atol=1e-6)


@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_both_formats_are_read(tmp_path: Path, header: str) -> None:
    (tmp_path / "vectors.txt").write_text(f"{header}play 1 0\ngame 0.9 0.1\n. . . 0 1\n")
    vectors = StaticVectors.read(str(tmp_path / "vectors.txt"))
    nearest = vectors.nearest("Play", 2)
    assert nearest is not None and [word for word, _ in nearest] == ["game", ". . ."]
    assert vectors.nearest("drama", 2) is None


@pytest.mark.parametrize("line", ["game 1", "game 1 x", "game", "game 1 nan"])
def test_a_line_that_is_not_like_the_first_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "vectors.txt").write_text(f"play 1 0\n{line}\n")
    with pytest.raises(BiLmError, match=r"vectors.txt, line 2: expected a word and 2 numbers"):
        StaticVectors.read(str(tmp_path / "vectors.txt"))


def test_a_file_without_vectors_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("400000 100\n")
    with pytest.raises(BiLmError, match="there is no vector"):
        StaticVectors.read(str(tmp_path / "vectors.txt"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("3 2\nplay 1 0\ngame 0 1\n", "line 1 says 3 vectors, but there are 2"),
        ("1 2\nplay 1 0\ngame 0 1\n", "line 1 says 1 vectors, but there are 2"),
        ("1 3\nplay 1 0\n", "line 2: expected a word and 3 numbers"),
    ],
)
def test_a_file_is_what_its_first_line_says(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "vectors.txt").write_text(content)
    with pytest.raises(BiLmError, match=message):
        StaticVectors.read(str(tmp_path / "vectors.txt"))


def test_a_first_word_with_one_number_is_not_a_head(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("play 0.5\ngame 1\n")
    assert StaticVectors.read(str(tmp_path / "vectors.txt")).nearest("play", 1) == [("game", 1.0)]
