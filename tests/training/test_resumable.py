"""A training of any model that is killed and continued ends with the same bytes as an undisturbed one."""

import hashlib
import io
import json
import multiprocessing
import os
import random
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.commands import train as train_command
from allennlp.common import Params
from allennlp.data import DataLoader, Vocabulary
from allennlp.models import Model
from allennlp.training import Checkpointer, Trainer
from allennlp.training.metric_tracker import MetricTracker
from allennlp.training.moving_average import ExponentialMovingAverage
from overrides import overrides

import elmo_plugin.hardening
import elmo_plugin.plugin  # noqa: F401
from elmo_plugin.bilm import BiLmError
from elmo_plugin.training import AtomicCheckpointer, ResumableTrainer
from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "elmo_plugin"
KILLED = 9


class DroppingModel(Model):
    """Draws random numbers in training."""

    def __init__(self) -> None:
        super().__init__(Vocabulary())
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        dropped = torch.dropout(inputs, 0.5, train=self.training)
        return {"loss": (self.layer(dropped) - inputs.sum(-1, keepdim=True)).square().mean()}


class ShufflingLoader(DataLoader):
    """Shuffles its examples in place in each epoch, so that their order depends on all epochs before."""

    def __init__(self, size: int) -> None:
        self._examples = torch.randn(size, 2, 3, generator=torch.Generator().manual_seed(size)).unbind()
        self._order = list(range(size))

    def __len__(self) -> int:
        return len(self._order)

    @overrides
    def __iter__(self) -> Any:
        random.shuffle(self._order)
        for number in self._order:
            yield {"inputs": self._examples[number] + np.random.rand()}

    def iter_instances(self) -> Any:
        return iter(())

    def index_with(self, vocab: Vocabulary) -> None:
        pass

    def set_target_device(self, device: torch.device) -> None:
        pass


class Stopped(Exception):
    pass


def trained(folder: Path, batch: int | None, steps: int | None) -> tuple[dict[str, Any], bytes, bytes]:
    """Trains to the end, or until `Stopped` at this batch, with a checkpoint every so many steps."""
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(0)
    model, numbers = DroppingModel(), count()
    forward = model.forward

    def stopping_forward(inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        if model.training and next(numbers) == batch:
            raise Stopped
        return forward(inputs)

    model.forward = stopping_forward
    metrics = ResumableTrainer(
        model,
        torch.optim.Adam(model.parameters(), lr=0.1),
        ShufflingLoader(5),
        validation_data_loader=ShufflingLoader(3),
        num_epochs=4,
        serialization_dir=str(folder),
        checkpointer=AtomicCheckpointer(folder, save_every_num_batches=steps),
        moving_average=ExponentialMovingAverage(model.named_parameters(), 0.5),
        cuda_device=-1,
        enable_default_callbacks=False,
        run_confidence_checks=False,
    ).train()
    figures = {name: value for name, value in metrics.items() if "memory" not in name}
    del figures["training_duration"]
    return figures, *((folder / name).read_bytes() for name in ("best.th", "model_state_e4_b0.th"))


@pytest.mark.parametrize("steps", [None, 2])
def test_a_stopped_training_ends_with_the_same_bytes(
    steps: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # takes most of the time
    expected = trained(tmp_path / "whole", None, steps)
    for batch in range(0, 20, 3):
        with pytest.raises(Stopped):
            trained(tmp_path / str(batch), batch, steps)
        assert trained(tmp_path / str(batch), None, steps) == expected
    assert trained(tmp_path / "whole", None, steps)[1:] == expected[1:], "it was over"


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"PK"), Path.unlink])
def test_a_damaged_model_of_an_earlier_epoch_is_an_error_before_the_training_goes_on(
    damage: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    with pytest.raises(Stopped):
        trained(tmp_path, 11, None)
    damage(tmp_path / "best.th")
    monkeypatch.setattr(MetricTracker, "is_best_so_far", lambda self: False)
    with pytest.raises(BiLmError, match=r"best\.th: (file not found|its weights are)"):
        trained(tmp_path, 12, None)


def test_configurations_without_types_are_resumed_too() -> None:
    assert Trainer.resolve_class_name(Trainer.list_available()[0])[0] is ResumableTrainer
    assert isinstance(Checkpointer.from_params(Params({}), serialization_dir="."), AtomicCheckpointer)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The project of `elmo new ner`, with the smallest biLM."""
    project = tmp_path / "project"
    shutil.copytree(PACKAGE / "projects" / "ner", project)
    shutil.copytree(PACKAGE / "jsonnet", project / "lib")
    monkeypatch.chdir(project)
    config = Params.from_file("config.jsonnet").as_dict(quiet=True)
    config["model"]["contextual_encoder"]["elmo"]["bilm"] = "tiny"
    config["data_loader"]["batch_sampler"]["batch_size"] = 2
    config["trainer"] |= {"num_epochs": 3, "validation_metric": "-loss", "cuda_device": -1}
    return config


def train_and_exit_at(event: int | None, config: dict[str, Any], folder: Path, recover: bool) -> None:
    """Trains, but ends the process at this change of a file, in the middle of one that is written."""
    happened = count(1)

    def counted(function: Callable) -> Callable:
        def counted_function(*args: Any, **kwargs: Any) -> Any:
            if next(happened) == event:
                os._exit(KILLED)
            return function(*args, **kwargs)

        return counted_function

    def torch_save(state: Any, file: Any, **options: Any) -> None:
        whole = io.BytesIO()
        save(state, whole, **options)
        file.write(whole.getvalue()[:1000])
        if next(happened) == event:
            file.flush()
            os._exit(KILLED)
        file.write(whole.getvalue()[1000:])

    torch.set_num_threads(1)
    save, torch.save = torch.save, torch_save
    for name in ("replace", "remove", "link", "mkdir", "rmdir", "fsync"):
        setattr(os, name, counted(getattr(os, name)))
    train_command.train_model(Params(json.loads(json.dumps(config))), str(folder), recover=recover)


def files(config: dict[str, Any], folder: Path, event: int | None = None, recover: bool = False) -> Any:
    """Trains in a process of its own. Returns the digests of its last files, or `None` if it was killed."""
    arguments = event, config, folder, recover
    process = multiprocessing.get_context("fork").Process(target=train_and_exit_at, args=arguments)
    process.start()
    process.join()
    if process.exitcode == KILLED:
        return None
    assert process.exitcode == 0 and (folder / "model.tar.gz").exists() and not list(folder.glob(".*"))
    names = ("best.th", "model_state_e2_b0.th", "model_state_e3_b0.th")
    return [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]


@pytest.mark.slow
def test_a_training_that_was_killed_while_it_wrote_its_configuration_starts_again(
    config: dict[str, Any], tmp_path: Path
) -> None:
    expected = files(config, tmp_path / "whole")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "config.json").write_text('{"data')
    assert files(config, tmp_path / "cut", recover=True) == expected


@pytest.mark.slow
def test_a_project_that_is_killed_while_it_writes_ends_with_the_same_bytes(
    config: dict[str, Any], tmp_path: Path
) -> None:
    expected = files(config, tmp_path / "whole")
    for event in range(8, 48, 9):
        folder = tmp_path / str(event)
        assert files(config, folder, event) is None
        assert files(config, folder, recover=True) == expected, f"killed at event {event}"
