"""Training that is killed at any point and continued ends as it would have without."""

import json
import os
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.language_model.trainer import BiLmTrainer
from tests.language_model.stateful import PlaceKeepingLoader, StatefulModel, make_trainer
from tests.training.kills import KILLED, exit_at, exit_code, no_wait

load_state = partial(load_plain, name="a state")

needs_scaler = pytest.mark.skipif(
    not hasattr(torch.amp, "GradScaler"), reason="torch scales on GPUs only"
)


def result(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Trains to the end: what must not depend on kills."""
    trainer = make_trainer(folder, **options)
    metrics = trainer.train()
    files = sorted(folder.glob("metrics_epoch_*.json"))
    return {
        "metrics": figures(metrics),
        "epochs": [figures(json.loads(file.read_text())) for file in files],
        "weights": {name: weight.tolist() for name, weight in trainer.model.state_dict().items()},
        "best": {name: weight.tolist() for name, weight in load_state(folder / "best.th").items()},
        "scaler": trainer._scaler and trainer._scaler.state_dict(),
    }


def figures(metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in metrics.items()
        if "memory" not in name and "duration" not in name
    }


def train_and_exit_at(event: int, folder: Path, options: dict[str, Any]) -> None:
    """
    Trains, but ends the process just before the event of this number: a batch, or a change of a
    file.
    """
    exit_at(event, (StatefulModel, "forward"))
    make_trainer(folder, **options).train()


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param(
            {"checkpoints": {"save_every_num_batches": 3}, "optimizer": torch.optim.Adagrad},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"checkpoints": {"save_every_num_batches": 2, "save_completed_epochs": False}},
            marks=pytest.mark.slow,
        ),
        pytest.param({"averages": True, "patience": 1, "num_epochs": 5}, marks=pytest.mark.slow),
        pytest.param({"scales": True}, marks=[needs_scaler, pytest.mark.slow]),
    ],
    ids=[
        "checkpoints after every step",
        "few checkpoints, Adagrad",
        "no checkpoints of whole epochs",
        "averaged weights, early stop",
        "a scaled loss",
    ],
)
def test_a_training_killed_at_any_moment_ends_with_the_same_result(
    options: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setattr(os, "fsync", no_wait)
    expected = result(tmp_path / "whole", options)
    # At every third moment with the first options, at fewer, and others, with the rest.
    every = 11
    if request.config.getoption("--slow"):
        every = 5 if options else 3
    for event in count(1 + len(options), every):
        folder = tmp_path / str(event)
        if exit_code(train_and_exit_at, event, folder, options) == 0:
            break
        again = result(folder, options)
        assert again == expected, f"killed at event {event}"
        assert not list(folder.glob(".*")), "nothing half-written is left"
    assert event > 30


def test_models_and_loaders_of_other_kinds_are_refused(tmp_path: Path) -> None:
    loader = PlaceKeepingLoader()
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(
        ConfigurationError, match=r"for model `bilm` with data loader `bilm_stream`.* Linear"
    ):
        BiLmTrainer(model, optimizer, loader, serialization_dir=str(tmp_path))
    with pytest.raises(
        ConfigurationError, match=r"for model `bilm` with data loader `bilm_stream`.* list"
    ):
        BiLmTrainer(StatefulModel(), optimizer, [], serialization_dir=str(tmp_path))


@pytest.mark.parametrize("part", ["text", "vocabulary", "order"])
def test_changed_data_or_number_of_processes_is_refused(part: str, tmp_path: Path) -> None:
    make_trainer(tmp_path, num_epochs=1).train()
    trainer = make_trainer(tmp_path)
    trainer.data_loader.fingerprint[part] = "other"
    message = (
        rf"cannot resume from .*: the {part} has changed; put it back, or train in a new folder"
    )
    with pytest.raises(ConfigurationError, match=message):
        trainer.train()
    with pytest.raises(ConfigurationError, match=r"made by 1 process\(es\), and now there are 2"):
        make_trainer(tmp_path, world_size=2).train()


def test_an_option_that_a_checkpoint_depends_on_and_that_was_removed_is_named(
    tmp_path: Path,
) -> None:
    trainer = make_trainer(tmp_path, num_epochs=1)
    trainer.data_loader.fingerprint["order"] = "blocks of 9 words"
    trainer.train()
    with pytest.raises(ConfigurationError, match="the order has changed"):
        make_trainer(tmp_path).train()


def test_a_checkpoint_of_the_plain_trainer_is_accepted_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = make_trainer(tmp_path)
    state = GradientDescentTrainer.get_checkpoint_state(trainer)
    state.trainer_state["epochs_completed"] = 1
    save_tensors(state.model_state, tmp_path / "model_state_e1_b0.th")
    save_tensors(state.trainer_state, tmp_path / "training_state_e1_b0.th")
    assert make_trainer(tmp_path).train()["epoch"] == 2
    assert "made by another trainer" in caplog.text


def test_training_continues_in_a_moved_folder(tmp_path: Path) -> None:
    expected = result(tmp_path / "whole", {"patience": 2})
    assert exit_code(train_and_exit_at, 60, tmp_path / "before", {"patience": 2}) == KILLED
    (tmp_path / "before").rename(tmp_path / "after")
    assert result(tmp_path / "after", {"patience": 2}) == expected


@pytest.mark.slow
def test_a_validation_in_another_order_in_each_epoch_continues_in_its_order(
    tmp_path: Path,
) -> None:
    def options() -> dict[str, Any]:
        return {"validation_data_loader": PlaceKeepingLoader(2)}

    expected = result(tmp_path / "whole", options())
    assert exit_code(train_and_exit_at, 60, tmp_path / "killed", options()) == KILLED
    assert (tmp_path / "killed" / "metrics_epoch_0.json").exists()
    assert result(tmp_path / "killed", options()) == expected


@pytest.mark.cuda
def test_the_scale_of_mixed_precision_and_the_random_state_of_a_gpu_are_restored(
    tmp_path: Path,
) -> None:
    options = {"cuda_device": 0, "use_amp": True}
    expected = result(tmp_path / "whole", options)
    assert exit_code(train_and_exit_at, 40, tmp_path / "run", options) == KILLED
    assert result(tmp_path / "run", options) == expected
    scalers = [
        load_state(tmp_path / run / "training_state_e3_b0.th")["exact_resume"]["scaler"]
        for run in ("whole", "run")
    ]
    assert scalers[0] == scalers[1] != torch.cuda.amp.GradScaler().state_dict()
