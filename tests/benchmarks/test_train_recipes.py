"""Both recipes train, from the same beginning and for the same time, and what each is comes from Jsonnet."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.benchmarks.programs import benchmark_module, figures_of
from tests.conftest import REPOSITORY

PATHS = {"data": "train.txt", "validation": "dev.txt"}


def test_the_recipes_are_those_of_the_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    program = benchmark_module("train_recipes", monkeypatch)
    tiny = REPOSITORY / "training_config" / "bilm_tiny.jsonnet"
    args = argparse.Namespace(config=tiny, **PATHS)
    modern, published = (program.read_config(args, addition) for addition in program.RECIPES.values())
    variables = {"BILM_TRAIN_DATA_PATH": "train.txt", "BILM_VALIDATION_DATA_PATH": "dev.txt"}
    assert modern == Params.from_file(tiny, ext_vars=variables).as_dict(quiet=True)
    adagrad = {"type": "adagrad", "lr": 0.2, "initial_accumulator_value": 1.0}
    assert published["trainer"].pop("optimizer") == adagrad
    assert published["trainer"].pop("grad_norm") == 10.0
    assert published["model"].pop("loss_scale") == 20
    for name in ("optimizer", "grad_norm", "learning_rate_scheduler"):
        del modern["trainer"][name]
    assert published == modern


@pytest.mark.slow
def test_reading_the_held_out_text_on_the_way_changes_no_training(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bilm_config: dict[str, Any]
) -> None:
    program, training = (benchmark_module(name, monkeypatch) for name in ("train_recipes", "training"))
    text = bilm_config["train_data_path"]

    def weights_after(goals: list[int]) -> dict[str, torch.Tensor]:
        loaders = [
            training.make_loader({**bilm_config["data_loader"], "shuffle": shuffle}, text, tmp_path, "cpu")
            for shuffle in (True, False)
        ]
        vocab = Vocabulary.from_instances(loaders[0].iter_instances())
        for loader in loaders:
            loader.index_with(vocab)
        torch.manual_seed(0)
        model = Model.from_params(params=Params(dict(bilm_config["model"])), vocab=vocab)
        learner = training.Learner(model, {**bilm_config["trainer"], "grad_norm": 1.0}, 6)
        batches = training.passes(loaders[0])
        curve = program.train(learner, batches, loaders[1], goals, "steps")["curve"]
        assert len(curve) == len(goals)
        return model.state_dict()

    once, often = weights_after([6]), weights_after([1, 2, 4, 6])
    assert all(torch.equal(once[name], often[name]) for name in once if name != "_extra_state")


@pytest.mark.slow
def test_the_command_trains_both_for_the_same_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bilm_config: dict[str, Any]
) -> None:
    schedule = {"type": "polynomial_decay", "warmup_steps": 2}
    bilm_config["trainer"] |= {"grad_norm": 1.0, "learning_rate_scheduler": schedule}
    config, picture = tmp_path / "config.json", tmp_path / "recipes.svg"
    config.write_text(json.dumps(bilm_config))
    text = bilm_config["train_data_path"]
    options = ["--data", text, "--validation", text, "--steps", "9", "--points", "3"]
    options += ["--config", str(config), "--plot", str(picture)]
    figures = figures_of("train_recipes", options, monkeypatch, tmp_path)
    modern, published = figures["modern"], figures["published"]
    assert modern["steps"] == 9
    assert published["steps"] > 0
    for recipe in (modern, published):
        seconds, tokens, perplexities = zip(*recipe["curve"], strict=True)
        assert len(seconds) == 3
        assert (recipe["seconds"], recipe["tokens"]) == (seconds[-1], tokens[-1])
        assert recipe["tokens_per_second"] == pytest.approx(tokens[-1] / seconds[-1])
        assert recipe["perplexity"] == perplexities[-1]
        assert min(perplexities) > 1
    for (there, *_), (here, *_) in zip(modern["curve"], published["curve"], strict=True):
        assert here >= there
    assert picture.stat().st_size > 0
