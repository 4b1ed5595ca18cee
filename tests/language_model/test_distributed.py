"""Training with several processes is training with one that has all of their rows."""

import json
import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.plugins import import_plugins
from allennlp.training import TrainerCallback
from overrides import overrides
from torch import distributed, multiprocessing
from torch.multiprocessing import ProcessExitedException, ProcessRaisedException

from elmo_plugin.common.formats.torch_files import load_plain
from tests.conftest import small_bilm_config

load_state = partial(load_plain, name="a state")

TWO = {"cuda_devices": [-1, -1]}

# What the second process does, in the environment, which processes inherit.
STOPS_AFTER_STEP = "STOPS_AFTER_STEP"


@TrainerCallback.register("watched_process")
class WatchedProcess(TrainerCallback):
    """
    Saves the weights and next random numbers of each process, and does in the second as it is told.
    """

    @overrides
    def on_batch(self, trainer: Any, *args: Any, is_training: bool, **kwargs: Any) -> None:
        step = trainer._total_batches_completed
        if is_training and trainer._rank == 1 and str(step) == os.environ.get(STOPS_AFTER_STEP):
            os._exit(1)

    @overrides
    def on_end(self, trainer: Any, **kwargs: Any) -> None:
        rank = distributed.get_rank() if distributed.is_initialized() else 0
        torch.save(trainer.model.state_dict(), f"{self.serialization_dir}/weights_of_{rank}.th")
        numbers = {"mask": torch.rand(20), "sampler": trainer.model.stream_state().get("sampler")}
        torch.save(numbers, f"{self.serialization_dir}/random_of_{rank}.th")


def unused_port() -> int:
    """
    Returns a port that nobody is given until it is used. The system gives ports from 32768 on to
    all who ask for any port.
    """
    while True:
        port = random.SystemRandom().randrange(16_384, 32_768)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@pytest.fixture(scope="module", autouse=True)
def _quick_processes() -> Iterator[None]:
    """AllenNLP's processes are copies of this one, which has imported everything already."""
    import_plugins()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("allennlp.common.util.find_open_port", unused_port)
        if not torch.cuda.is_available():  # a copy of a process that has used a GPU cannot train
            fork = partial(multiprocessing.start_processes, start_method="fork")
            patch.setattr(multiprocessing, "spawn", fork)
        yield


def config_in(folder: Path) -> dict[str, Any]:
    """Without anything that is drawn by random for each row."""
    config = small_bilm_config(folder)
    config["validation_data_loader"]["block_words"] = 20  # so that there are some for each process
    model = {"dropout": 0.0, "num_negatives": None, "precision": "float32", "loss_scale": 4.0}
    trainer = {
        "optimizer": {"type": "adagrad", "lr": 0.2, "initial_accumulator_value": 1.0},
        "grad_norm": 1.0,
        "checkpointer": {"type": "atomic", "save_every_num_batches": 2},
        "callbacks": [{"type": "bilm_progress", "seconds": 0}, {"type": "watched_process"}],
    }
    return {**config, "model": config["model"] | model, "trainer": config["trainer"] | trainer}


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    return config_in(tmp_path)


def with_rows(config: dict[str, Any], batch_size: int) -> dict[str, Any]:
    loaders = {
        name: {**config[name], "batch_size": batch_size} for name in config if "loader" in name
    }
    return {**config, **loaders}


def train(config: dict[str, Any], folder: Path, recover: bool = False) -> None:
    train_model(Params(deepcopy(config)), folder, recover, include_package=[__name__])


def figures(folder: Path) -> dict[tuple[str, str], float]:
    """What was measured in training and validation."""
    return {
        (path.name, name): value
        for path in folder.glob("metrics*.json")
        for name, value in json.loads(path.read_text()).items()
        if "memory" not in name and "duration" not in name
    }


def weights(path: Path) -> dict[str, torch.Tensor]:
    return {
        name: value for name, value in load_state(path).items() if isinstance(value, torch.Tensor)
    }


@pytest.mark.slow
def test_two_processes_learn_the_same_as_one_with_sampling_warm_up_and_accumulation(
    config: dict[str, Any], tmp_path: Path
) -> None:
    config["model"] |= {"num_negatives": 4, "warm_up_batches": 3}
    config["trainer"]["num_gradient_accumulation_steps"] = 2
    one, two = tmp_path / "one", tmp_path / "two"
    train(with_rows(config, 6), one)
    accelerator = {"type": "torch", "find_unused_parameters": True}
    config["data_loader"]["num_workers"] = 1
    train({**with_rows(config, 3), "distributed": {**TWO, "ddp_accelerator": accelerator}}, two)
    expected = weights(one / "weights_of_0.th")
    first, second = (weights(two / f"weights_of_{process}.th") for process in (0, 1))
    torch.testing.assert_close(first, expected, rtol=0, atol=1e-6)
    assert all(torch.equal(first[name], second[name]) for name in expected)
    assert figures(two) == pytest.approx(figures(one), rel=1e-6)
    logs = [(two / f"out_worker{process}.log").read_text() for process in (0, 1)]
    assert ["tokens/s" in log for log in logs] == [True, False], (
        "only the first process tells the progress"
    )
    assert ("metrics.json", "training_sampled_loss") in figures(tmp_path / "two")


@pytest.mark.slow
def test_two_stopped_processes_continue_to_the_same_result(
    config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config["model"] |= {"dropout": 0.2, "num_negatives": 4}
    config["distributed"] = TWO
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    train(config, whole)
    failures = (
        ProcessExitedException,
        ProcessRaisedException,
    )  # the second: of a process left alone
    with monkeypatch.context() as environment, pytest.raises(failures):
        environment.setenv(STOPS_AFTER_STEP, "9")  # in the second epoch
        train(config, stopped)
    assert {path.name for path in stopped.glob("model_state*")} >= {"model_state_e1_b0.th"}
    assert not (stopped / "metrics_epoch_1.json").exists()
    train(config, stopped, recover=True)
    assert figures(stopped) == figures(whole)
    for process in (0, 1):
        expected, again = (weights(run / f"weights_of_{process}.th") for run in (whole, stopped))
        assert all(torch.equal(again[name], expected[name]) for name in expected)
    first, second = (load_state(whole / f"random_of_{process}.th") for process in (0, 1))
    assert not torch.equal(first["mask"], second["mask"]), "other dropout masks"
    assert torch.equal(first["sampler"], second["sampler"]), "the same negatives"


@pytest.mark.slow
def test_text_too_short_for_the_rows_of_all_processes_is_an_error(
    config: dict[str, Any], tmp_path: Path
) -> None:
    message = (
        r"text\.txt has 20 sentences, fewer than the 22 streams that all processes together read"
    )
    with pytest.raises(ProcessRaisedException, match=message):
        train({**with_rows(config, 11), "distributed": TWO}, tmp_path / "run")


def train_node(rank: int, configs: list[dict[str, Any]], folder: Path) -> None:
    train_model(
        Params(configs[rank]), folder / f"node_{rank}", node_rank=rank, include_package=[__name__]
    )


def nodes_in(folder: Path) -> list[dict[str, Any]]:
    """The configuration of each of two nodes."""
    distributed = {"cuda_devices": [-1], "num_nodes": 2, "primary_port": unused_port()}
    return [{**config_in(folder), "distributed": dict(distributed)} for _ in range(2)]


@pytest.mark.slow
def test_nodes_with_different_texts_are_an_error(tmp_path: Path) -> None:
    nodes = nodes_in(tmp_path)
    other = tmp_path / "other.txt"
    other.write_text(Path(nodes[1]["train_data_path"]).read_text() * 2)
    nodes[1]["train_data_path"] = str(other)
    with pytest.raises(ProcessRaisedException, match="all processes must have the same text"):
        multiprocessing.spawn(train_node, args=(nodes, tmp_path), nprocs=2)
