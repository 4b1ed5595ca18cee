"""Static vectors are trained, reproducible, and read by the configurations."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from tests.experiments.programs import experiment_module

TEXT = "the judge ordered a trial .\nthe court ordered a trial .\nit rained today .\n" * 40


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "text.txt").write_text(TEXT)
    return str(tmp_path / "text.txt")


def test_words_that_stand_in_the_same_places_are_alike(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = pytest.importorskip("gensim.models")
    train = experiment_module("static_vectors", monkeypatch).train
    for name in ("one.txt", "two.txt"):
        train([text, text], tmp_path / name, dim=8, epochs=30, min_count=3, seed=1)
    vectors = models.KeyedVectors.load_word2vec_format(tmp_path / "one.txt")
    assert vectors.similarity("judge", "court") > vectors.similarity("judge", "rained")
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "two.txt").read_bytes()


def test_a_text_without_frequent_words_is_refused(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gensim")
    with pytest.raises(ConfigurationError, match=r"text.txt: no word is there 1000 times"):
        experiment_module("static_vectors", monkeypatch).train([text], tmp_path / "out.txt", 8, 1, 1000, 1)
    assert not (tmp_path / "out.txt").exists()
