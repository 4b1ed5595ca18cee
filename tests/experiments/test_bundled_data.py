"""The data of bundled models."""

import importlib
import random
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import REPOSITORY


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "experiments" / "bundled")


@pytest.fixture
def sst_data(_path: None) -> ModuleType:
    return importlib.import_module("sst_data")


def test_mean_ratings_near_zero_are_neutral_and_words_stay(sst_data: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "rated.tsv"
    file.write_text('text\tmean_rating\nfine\t0.5\ngood &amp; "new"\t0.6\nbad\t-2\nso\tpositive\n')
    texts = [("fine", "neutral"), ('good & "new"', "positive"), ("bad", "negative"), ("so", "positive")]
    assert sst_data.rated(file) == texts


def test_negation_turns_the_side_of_a_rated_word(sst_data: ModuleType) -> None:
    ratings = {"awful": -2.0, "lovely": 2.8, "love": 3.2, "oak": 0.1, "calmly": 1.2}
    made = list(sst_data.lexicon_sentences(ratings, {"awful", "lovely"}, {"love"}, random.Random(1)))
    negations = ("not", "n't", "nobody")
    for text, label in made:
        is_bad = "awful" in text.lower()
        is_negated = any(word in text.lower() for word in negations)
        assert label == ("negative" if is_bad != is_negated else "positive"), text
    assert sum(any(word in text.lower() for word in negations) for text, _ in made) == 6
    assert not any("oak" in text.lower() for text, _ in made)


def test_trees_become_three_classes(sst_data: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "trees.txt").write_text("(0 (2 A) (1 -LRB-))\n(2 (2 1\\/2) (2 b))\n(4 (2 c) (3 d))\n")
    found = list(sst_data.treebank(tmp_path / "trees.txt"))
    assert found == [("A (", "negative"), ("1/2 b", "neutral"), ("c d", "positive")]
