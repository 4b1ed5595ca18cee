"""The data set for inference is what its program writes and has the properties that its README claims."""

import importlib
import json
import re
from collections import Counter
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
    grammar = importlib.import_module("generator").read_grammar(DATA / "snli_grammar")
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
