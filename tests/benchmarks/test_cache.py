"""The benchmark of caches writes the figures that it promises."""

import shutil
from pathlib import Path

import pytest

from elmo_plugin import plugin  # noqa: F401 (registers what the benchmark names)
from tests.benchmarks.programs import benchmark_module, figures_of
from tests.small_bilm import loud_bilm, write_pair
from tests.trained_tagger import SENTENCES


def test_an_epoch_of_snli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = ["--sentences", "12", "--batch-size", "4", "--rounds", "1"]
    figures = figures_of("cache", options, monkeypatch, tmp_path)
    assert figures["sentences"] == 12 >= figures["distinct_sentences"]
    assert not figures["all_sentences"]
    assert figures["tokens_per_second"] > 0
    for prefix in ("", "float32_", "memory_"):
        rate = figures[f"{prefix}cached_tokens_per_second"]
        assert figures[f"{prefix}ratio"] == pytest.approx(rate / figures["tokens_per_second"])
        assert figures[f"{prefix}read_tokens_per_second"] > 0
    words = figures["words_per_sentence"] * figures["distinct_sentences"]
    assert figures["float32_gigabytes"] > 1.5 * figures["gigabytes"] > 1e-9 * words * 3 * 256


@pytest.mark.slow
def test_epochs_of_training_a_tagger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = benchmark_module("cache", monkeypatch)
    monkeypatch.setattr(program, "write_model", lambda _size, folder: write_pair(loud_bilm(), folder))
    for name in ("train.txt", "dev.txt"):
        shutil.copy(SENTENCES, tmp_path / name)
    options = ["--task", "ner", "--rounds", "1", "--data", str(tmp_path)]
    figures = figures_of("cache", options, monkeypatch, tmp_path)
    assert figures["ratio"] == pytest.approx(figures["epoch_seconds"] / figures["cached_epoch_seconds"])
