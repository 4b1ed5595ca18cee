"""The data set for inference is what its program writes and has the properties that its README claims."""

import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.conftest import REPOSITORY

DATA = REPOSITORY / "experiments" / "data"
LABELS = ("entailment", "neutral", "contradiction")


def read(part: str) -> list[dict[str, str]]:
    lines = (DATA / "snli" / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


TRAIN, DEV = read("train"), read("dev")
SENTENCES = [pair[name] for pair in TRAIN + DEV for name in ("sentence1", "sentence2")]


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that the program wrote with the documented seed, and what it printed."""
    folder = tmp_path_factory.mktemp("snli")
    command = [sys.executable, str(DATA / "make_snli.py"), "--seed", "13", "--out", str(folder)]
    return folder, subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_regeneration_gives_the_same_bytes_and_no_other_files(regenerated: tuple[Path, str]) -> None:
    folder, _ = regenerated
    assert sorted(path.name for path in folder.iterdir()) == ["dev.jsonl", "train.jsonl"]
    for path in folder.iterdir():
        assert path.read_bytes() == (DATA / "snli" / path.name).read_bytes()


def test_the_readme_shows_the_statistics_that_the_program_prints(regenerated: tuple[Path, str]) -> None:
    assert regenerated[1] in (DATA / "README.md").read_text(encoding="utf-8")


def test_there_are_1800_and_300_different_pairs_with_each_label_as_often() -> None:
    assert len({tuple(pair.values()) for pair in TRAIN + DEV}) == 2100
    assert Counter(pair["gold_label"] for pair in TRAIN) == dict.fromkeys(LABELS, 600)
    assert Counter(pair["gold_label"] for pair in DEV) == dict.fromkeys(LABELS, 100)


def test_no_pair_has_two_labels() -> None:
    assert len({(pair["sentence1"], pair["sentence2"]) for pair in TRAIN + DEV}) == 2100


def test_sentences_are_written_as_in_plain_text() -> None:
    for sentence in SENTENCES:
        assert re.fullmatch(r"[A-Z][a-z]*(,? [a-z]+)+\.", sentence), sentence
        assert not re.search(r"\b[Aa] (?!uni)[aeiou]|\b[Aa]n ([^aeiou]|uni)", sentence), sentence


def test_the_hypothesis_is_the_same_whatever_the_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DATA)
    make_snli = importlib.import_module("make_snli")
    grammar = make_snli.read_grammar(make_snli.GRAMMAR)
    for seed in range(100):
        sources = [make_snli.PairSource(grammar, Random(seed)) for _ in LABELS]
        hypotheses = {source.pair(label).hypothesis for source, label in zip(sources, LABELS, strict=True)}
        assert len(hypotheses) == 1


def test_a_third_of_the_words_of_dev_are_not_in_train() -> None:
    train, dev = (
        {word for pair in part for word in re.findall(r"\w+", f"{pair['sentence1']} {pair['sentence2']}")}
        for part in (TRAIN, DEV)
    )
    assert 0.3 < len(dev - train) / len(dev) < 0.5
