"""Training a biLM that is killed at random moments, by the system, and continued."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params

from elmo_plugin.common.formats.torch_files import load_plain
from tests.forked_allennlp import forked_allennlp

# A process that is forked from one that has used a GPU cannot train.
PROCESSES = multiprocessing.get_context("spawn" if torch.cuda.is_available() else "fork")

MINUTES = 600.0  # long enough for any end


@pytest.fixture
def config(bilm_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Every part of training that has a state, or draws random numbers."""
    loader = {**bilm_config["data_loader"], "cache_directory": str(tmp_path / "cache")}
    return {
        **bilm_config,
        "data_loader": loader,
        "validation_data_loader": {**loader, "shuffle": False, "unroll_steps": 20},
        "model": {**bilm_config["model"], "dropout": 0.2},
        "trainer": {
            "type": "bilm",
            "num_epochs": 3,
            "optimizer": {"type": "adamw", "lr": 0.01},
            "learning_rate_scheduler": {"type": "linear_with_warmup", "warmup_steps": 5},
            "num_gradient_accumulation_steps": 2,
            "grad_norm": 1.0,
            "validation_metric": "-perplexity",
            "checkpointer": {"type": "atomic", "save_every_num_batches": 2},
            "callbacks": [{"type": "bilm_progress", "seconds": 0}],
            "cuda_device": -1,
        },
    }


class Training(Protocol):
    """`allennlp train` in a process of its own."""

    def wait(self, seconds: float) -> int | None:
        """Its exit status, if it ends within so many seconds."""

    def kill(self) -> None:
        """Has the system kill it, with all of its processes, and waits for its end."""


class Forked:
    """Training in a copy of this process, which has imported everything already."""

    def __init__(self, config: dict[str, Any], folder: Path, recover: bool) -> None:
        self._process = PROCESSES.Process(target=train_silently, args=(config, folder, recover))
        self._process.start()

    def wait(self, seconds: float) -> int | None:
        self._process.join(seconds)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def train_silently(config: dict[str, Any], folder: Path, recover: bool) -> None:
    torch.set_num_threads(1)
    sys.stdout = sys.stderr = open(folder.with_suffix(".log"), "a", buffering=1)  # noqa: SIM115
    train_model(Params(config), folder, recover=recover)


class Command:
    """Training by the command line."""

    def __init__(self, program: Sequence[str | Path], config: Path, folder: Path, recover: bool) -> None:
        with open(folder.with_suffix(".log"), "a") as log:
            self._process = subprocess.Popen(
                [*program, "train", config, "-s", folder] + ["--recover"] * recover,
                stdout=log,
                stderr=log,
                preexec_fn=os.setpgrp,
            )

    def wait(self, seconds: float) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def train_and_kill(start: Callable[[bool], Training], folder: Path, moments: Iterable[float]) -> int:
    """
    Trains to the end; kills the training so many seconds after its start, and starts it again, as long as
    there are `moments`. Returns the number of kills.
    """
    for kills, moment in enumerate(moments):
        has_begun = (folder / "config.json").exists()
        training = start(has_begun)
        while not has_begun:  # before that, AllenNLP has nothing to recover
            time.sleep(0.01)
            has_begun = (folder / "config.json").exists()
        status = training.wait(moment)
        if status is not None:
            assert status == 0, folder.with_suffix(".log").read_text()[-3000:]
            return kills
        training.kill()
    raise AssertionError("training has not come to its end")


def result(folder: Path) -> dict[str, Any]:
    """What must not depend on kills."""
    figures = {
        (path.name, name): value
        for path in folder.glob("metrics*.json")
        for name, value in json.loads(path.read_text()).items()
        if "memory" not in name and "duration" not in name
    }
    weights = {
        (path.name, name): weight.tolist()
        for path in (folder / "best.th", folder / "model_state_e3_b0.th")
        for name, weight in load_plain(path, "a state").items()
        if isinstance(weight, torch.Tensor)
    }
    return {**figures, **weights}


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(config: dict[str, Any], tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    begin = time.monotonic()
    train_and_kill(partial(Forked, config, whole), whole, [MINUTES])
    duration = time.monotonic() - begin
    random_numbers = random.Random(3)
    # In time they get longer than training takes, even if the machine has become slower.
    moments = (duration * random_numbers.uniform(0.05, 0.5 + trial / 4) for trial in range(100))
    assert train_and_kill(partial(Forked, config, killed), killed, moments) > 0
    assert result(killed) == result(whole)
    assert (killed / "model.tar.gz").exists()


@pytest.fixture
def quick_allennlp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Runs as a copy of this process, as do the processes that it starts."""
    if not torch.cuda.is_available():
        fork = partial(torch.multiprocessing.start_processes, start_method="fork")
        monkeypatch.setattr(torch.multiprocessing, "spawn", fork)
    with forked_allennlp(tmp_path) as program:
        yield program


@pytest.mark.slow
@pytest.mark.parametrize("distributed", [None, {"cuda_devices": [-1, -1]}], ids=["one", "two"])
def test_the_command_goes_on_after_a_kill_with_so_many_processes(
    distributed: dict[str, Any] | None, config: dict[str, Any], tmp_path: Path, quick_allennlp: Path
) -> None:
    if distributed:
        config |= {"distributed": distributed}
        del config["trainer"]["cuda_device"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    training = Command([quick_allennlp], tmp_path / "config.json", killed, recover=False)
    while not list(killed.glob("training_state_*.th")):  # the first is there after two batches
        assert training.wait(0.01) is None, killed.with_suffix(".log").read_text()[-3000:]
    training.kill()
    assert not (killed / "metrics.json").exists(), "it was killed too late"
    again = Command([quick_allennlp], tmp_path / "config.json", killed, recover=True)
    assert again.wait(MINUTES) == 0, killed.with_suffix(".log").read_text()[-3000:]
    train_and_kill(partial(Forked, config, whole), whole, [MINUTES])
    assert result(killed) == result(whole)
