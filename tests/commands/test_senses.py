"""`elmo-senses` prints the F1 of each layer, and writes it."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from tests.commands.run import run


def corpus(folder: Path, name: str, *places: tuple[str, int, str]) -> str:
    lines = [
        {
            "tokens": words.split(),
            "targets": [{"index": index, "lemma": "play", "pos": "n", "senses": [sense]}],
        }
        for words, index, sense in places
    ]
    (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(folder / name)


@pytest.fixture
def first_senses(tmp_path: Path) -> list[str]:
    (tmp_path / "first.tsv").write_text("play\tn\t1\ta\n")
    return ["--first-senses", str(tmp_path / "first.tsv")]


def test_each_layer_is_scored(
    tmp_path: Path, first_senses: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    train = corpus(
        tmp_path, "train.jsonl", ("the play ended .", 1, "a"), ("his play against us", 1, "b")
    )
    test = corpus(
        tmp_path, "test.jsonl", ("the play ended .", 1, "a"), ("his play against us", 1, "b")
    )
    run("senses", "tiny", train, test, *first_senses, "--json", tmp_path / "senses.json")
    assert "first sense   50.00" in capsys.readouterr().out
    figures = json.loads((tmp_path / "senses.json").read_text())[test]
    assert figures["first sense"] == {"f1": 0.5, "correct": 1, "answered": 2, "total": 2}
    assert {name: figures[name]["f1"] for name in ("LSTM 1", "LSTM 2", "mean")} == {
        "LSTM 1": 1.0,
        "LSTM 2": 1.0,
        "mean": 1.0,
    }
    assert figures["token"]["f1"] == 0.5  # the word is the same: its token vector cannot tell


def test_corpora_without_senses_are_refused(tmp_path: Path, first_senses: list[str]) -> None:
    train = corpus(tmp_path, "train.jsonl", ("the play ended .", 1, "a"))
    (tmp_path / "empty.jsonl").write_text('{"tokens": ["a"], "targets": []}\n')
    empty = str(tmp_path / "empty.jsonl")
    for arguments in ((empty, train), (train, empty)):
        with pytest.raises(ConfigurationError, match=r"empty.jsonl: no word with a sense"):
            run("senses", "tiny", *arguments, *first_senses)
