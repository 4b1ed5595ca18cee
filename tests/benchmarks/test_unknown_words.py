"""The share of unknown words is that of the tokens which the vocabulary lacks."""

import json
import sys
from pathlib import Path

import pytest

from tests.benchmarks.programs import benchmark_module


def write(path: Path, text: str) -> str:
    path.write_text("".join(f"{word} _ _ O\n" for word in text.split()))
    return str(path)


def test_unknown_words_are_those_below_min_count_and_those_of_other_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides = {
        "train_data_path": write(tmp_path / "train.txt", "A dog and a cat"),
        "validation_data_path": write(tmp_path / "dev.txt", "a dog a cow"),
    }
    path = tmp_path / "shares.json"
    options = ["experiments/ner_baseline.jsonnet", "-o", json.dumps(overrides), "--json", str(path)]
    monkeypatch.setattr(sys, "argv", ["unknown_words", *options])
    benchmark_module("unknown_words", monkeypatch).main()
    assert json.loads(path.read_text()) == {"ner_baseline": {"train": 60.0, "validation": 50.0}}
