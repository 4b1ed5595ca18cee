"""Trainings are done once, and what other commands have measured stays."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from allennlp.common import Params

from tests.experiments.programs import experiment_module


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return experiment_module("compare", monkeypatch)


@pytest.fixture
def trained(compare: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The configurations of the trainings that were asked for; each scores its seed."""
    configs = []

    def train_model(params: Params, serialization_dir: Path, force: bool) -> None:
        assert force
        config = params.as_dict(quiet=True)
        configs.append(config)
        serialization_dir.mkdir(parents=True)
        (serialization_dir / "config.json").write_text(json.dumps(config))
        metrics = {"best_validation_f1-measure-overall": config["random_seed"] / 100}
        (serialization_dir / "metrics.json").write_text(json.dumps(metrics))

    monkeypatch.setattr(compare, "train_model", train_model)
    return configs


def run(compare: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> str:
    """The command."""
    monkeypatch.setattr(sys, "argv", ["experiments/compare.py", *map(str, arguments)])
    compare.main()
    return f"python {' '.join(sys.argv)}"


def test_every_variant_is_trained_with_every_seed_but_never_twice(
    compare: ModuleType, trained: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arguments = ["ner", "--data", "folder", "--json", tmp_path / "ner.json", "--runs", tmp_path / "runs"]
    run(compare, monkeypatch, *arguments, "--seeds", "1", "2")
    assert len(trained) == 4
    assert {config["train_data_path"] for config in trained} == {"folder/train.txt"}
    command = run(compare, monkeypatch, *arguments, "--seeds", "1", "2", "3")
    assert len(trained) == 6
    expected = {"scores": [1, 2, 3], "command": command}
    assert json.loads((tmp_path / "ner.json").read_text()) == {"baseline": expected, "elmo": expected}


def test_a_variant_alone_leaves_the_other_with_the_command_that_it_came_from(
    compare: ModuleType, trained: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arguments = ["ner", "--data", "folder", "--json", tmp_path / "ner.json", "--seeds", "1"]
    first = run(compare, monkeypatch, *arguments, "--runs", tmp_path / "runs")
    second = run(compare, monkeypatch, *arguments, "--runs", tmp_path / "other", "--variants", "elmo")
    results = json.loads((tmp_path / "ner.json").read_text())
    assert results == {
        "baseline": {"scores": [1], "command": first},
        "elmo": {"scores": [1], "command": second},
    }


def test_a_finished_training_with_another_configuration_is_not_taken_for_this_one(
    compare: ModuleType, trained: list[Any], tmp_path: Path
) -> None:
    compare.scores_of_seeds("ner", "elmo", "folder", [1], tmp_path, bilm="mine")
    with pytest.raises(SystemExit, match="ner_elmo_1 is a training with another configuration"):
        compare.scores_of_seeds("ner", "elmo", "folder", [1], tmp_path, bilm="yours")
    (config,) = trained
    embedders = config["model"]["contextual_encoder"]["text_field_embedder"]["token_embedders"]
    assert embedders["elmo"]["bilm"] == "mine"
