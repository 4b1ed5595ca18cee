"""Task texts are extracted correctly; a biLM is fine-tuned on them once and used in the task."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from elmo_plugin.bilm import BiLm
from elmo_plugin.sweeps import trainings
from tests.experiments.programs import experiment_module
from tests.trained_bilm import random_bilm, write_training

SUBJECTS, VERBS = (
    ("cat", "dog", "bird", "man", "woman", "child"),
    ("sat", "ran", "slept", "ate", "left", "sang"),
)
SENTENCES = [["the", subject, verb, "."] for subject in SUBJECTS for verb in VERBS]
DEV = [["the", "cat", "sat", "and", "ran", "."], ["dogs", "sat"]]


@pytest.fixture
def finetune(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return experiment_module("finetune", monkeypatch)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The same sentences in the layouts of both tasks, some more than once."""
    folder = tmp_path / "data"
    folder.mkdir()
    for part, sentences in (("train", [*SENTENCES, SENTENCES[3]]), ("dev", [SENTENCES[0], *DEV])):
        columns = ("".join(f"{word} _ _ O\n" for word in sentence) for sentence in sentences)
        (folder / f"{part}.txt").write_text("\n".join(columns))
        pairs = ({"sentence1": " ".join(s), "sentence2": "The cat sat ."} for s in sentences)
        (folder / f"{part}.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs))
    return folder


def lines(sentences: list[list[str]]) -> list[str]:
    return [" ".join(sentence) for sentence in sentences]


def test_a_text_has_every_sentence_once_and_in_dev_none_of_train(
    finetune: ModuleType, data: Path, tmp_path: Path
) -> None:
    ner = finetune.write_texts(finetune.ner_sentences(str(data)), tmp_path / "ner")
    assert ner["train"].read_text().splitlines() == lines(SENTENCES)
    assert ner["dev"].read_text().splitlines() == lines(DEV)
    nli = finetune.write_texts(finetune.nli_sentences(str(data)), tmp_path / "nli")
    first, *rest = lines(SENTENCES)
    assert nli["train"].read_text().splitlines() == [first, "The cat sat .", *rest]
    assert nli["dev"].read_text().splitlines() == lines(DEV)


@pytest.mark.slow
def test_the_bilm_learns_the_text_once_and_the_task_gets_both(
    finetune: ModuleType, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = str(write_training(tmp_path / "source", random_bilm()))
    given = []

    def scores_of_seeds(data: str, bilm: str, seeds: list[int], runs: Path) -> list[float]:
        given.append(bilm)
        return [10.0 * seed for seed in seeds]

    monkeypatch.setattr(finetune, "scores_of_seeds", scores_of_seeds)
    arguments = ["--ner", data, "--nli", data, "--bilm", archive, "--seeds", 1, 2]
    arguments += ["--json", tmp_path / "out.json", "--runs", tmp_path / "runs"]
    monkeypatch.setattr(sys, "argv", ["experiments/finetune.py", *map(str, arguments)])
    finetune.main()
    results = json.loads((tmp_path / "out.json").read_text())
    assert results["command"] == f"python {' '.join(sys.argv)}"
    for task in ("ner", "nli"):
        before, after = results[task]["text"]["before"], results[task]["text"]["after"]
        assert after["perplexity"] < before["perplexity"]
        counts = [name for name in after if "perplexity" not in name]
        assert [after[name] for name in counts] == [before[name] for name in counts]
    scores = {"mean": 15, "scores": [10, 20]}
    assert results["ner"]["f1"] == {"before": scores, "after": scores}
    assert given == [archive, str(tmp_path / "runs" / "ner" / "bilm")]
    assert BiLm.from_pretrained(given[1]).output_dim == BiLm.from_pretrained(archive).output_dim

    monkeypatch.setattr(trainings, "train_model", None)
    finetune.main()
    assert json.loads((tmp_path / "out.json").read_text()) == results
