"""Trainings in several processes end as they do one after another, even where a process is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.training.callbacks import TrainerCallback

from elmo_plugin.bilm import BiLmError
from elmo_plugin.sweeps import trainings
from elmo_plugin.sweeps.trainings import Training, find_trainings, train, train_in_processes
from tests.experiments.configs import BILM
from tests.trained_tagger import tagger_config


@pytest.fixture
def quick_dask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """
    Dask's configuration; its processes are copies of this one, which has imported everything
    already.
    """
    pytest.importorskip("dask.distributed", reason="needs elmo_plugin[cluster]")
    import dask.config

    fork, lock = os.fork, threading.Lock()

    def fork_alone() -> int:  # filelock refuses two at a time
        with lock:
            return fork()

    monkeypatch.setattr(os, "fork", fork_alone)
    with dask.config.set({"distributed.worker.multiprocessing-method": "fork"}):
        yield dask.config


@TrainerCallback.register("dies")
class Dies(TrainerCallback):
    """
    Kills its process at the end of the first epoch, unless the marker is there, which it then
    makes.
    """

    def __init__(self, serialization_dir: str, marker: str, times: int) -> None:
        super().__init__(serialization_dir)
        self._marker, self._times = Path(marker), times

    def on_epoch(self, *_: Any, **__: Any) -> None:
        deaths = len(self._marker.read_text()) if self._marker.exists() else 0
        if deaths < self._times:
            self._marker.write_text("x" * (deaths + 1))
            os.kill(os.getpid(), signal.SIGKILL)


@TrainerCallback.register("stops")
class Stops(TrainerCallback):
    """
    Stops its process at the end of the first epoch for longer than Dask expects to hear nothing of
    it, as a machine that sleeps does, and adds a line to the marker.
    """

    def __init__(self, serialization_dir: str, marker: str) -> None:
        super().__init__(serialization_dir)
        self._marker = Path(marker)

    def on_epoch(self, *_: Any, epoch: int, **__: Any) -> None:
        if epoch == 0:
            with self._marker.open("a") as marker:
                marker.write("begun\n")
            number = os.getpid()
            subprocess.run(["sh", "-c", f"kill -STOP {number}; sleep 12; kill -CONT {number}"])


def trainings_of(folder: Path, marker: Path, deaths: int, seeds: int) -> list[Training]:
    config = tagger_config(BILM, ["input"], dropout=0.5)
    config["trainer"] |= {
        "num_epochs": 2,
        "callbacks": [{"type": "dies", "marker": str(marker), "times": deaths}],
    }
    path = folder.parent / "ner.json"
    path.write_text(json.dumps(config))
    return find_trainings([str(path)], folder, range(1, seeds + 1))


def without_times(metrics: dict[str, Any] | None) -> dict[str, Any]:
    return {
        name: value
        for name, value in (metrics or {}).items()
        if not re.search("duration|memory", name)
    }


@pytest.mark.slow
def test_scores_equal_a_sequential_sweep_even_if_a_process_is_killed(
    quick_dask: Any, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    several = trainings_of(tmp_path / "several", marker, deaths=1, seeds=2)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)  # one for each process
    try:
        outcomes = train_in_processes(several, workers=2, packages=[__name__])
        torch.set_num_threads(1)
        alone = [
            train(each.config, each.folder)
            for each in trainings_of(tmp_path / "alone", marker, 1, seeds=2)
        ]
    finally:
        torch.set_num_threads(threads)
    assert marker.read_text() == "x"
    assert [each.failure for each in outcomes] == ["", ""]
    assert [without_times(each.metrics) for each in outcomes] == list(map(without_times, alone))
    assert without_times(alone[0]) != without_times(alone[1])
    assert [each.folder.is_dir() for each in several] == [True, True]


@pytest.mark.slow
def test_a_training_whose_process_keeps_dying_fails_and_the_rest_continue(
    quick_dask: Any, tmp_path: Path
) -> None:
    dying = trainings_of(tmp_path / "dying", tmp_path / "marker", deaths=100, seeds=1)
    sound = trainings_of(tmp_path / "sound", tmp_path / "other", deaths=0, seeds=1)
    with quick_dask.set({"distributed.scheduler.allowed-failures": 1}):  # 3 otherwise
        first, second = train_in_processes([*dying, *sound], workers=2, packages=[__name__])
    assert first.failure == "its process died too often (KilledWorker)"
    assert (tmp_path / "marker").read_text() == "xx"
    assert second.metrics is not None


@pytest.mark.slow
def test_a_process_that_stops_for_long_is_not_replaced(quick_dask: Any, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    (training,) = trainings_of(tmp_path / "runs", marker, deaths=0, seeds=1)
    training.config["trainer"]["callbacks"] = [{"type": "stops", "marker": str(marker)}]
    with quick_dask.set({"distributed.scheduler.worker-ttl": "1s"}):  # five minutes otherwise
        (outcome,) = train_in_processes([training], workers=1, packages=[__name__])
    assert outcome.failure == ""
    assert marker.read_text() == "begun\n"


def test_threads_of_a_process_train_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that somebody else has started may have several threads."""
    under_way = []

    def train_slowly(config: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        under_way.append(config)
        time.sleep(0.05)
        assert under_way.pop() == config and not under_way
        return {}

    monkeypatch.setattr(trainings, "train", train_slowly)
    monkeypatch.setattr(trainings, "import_all_plugins", lambda subject: None)
    waiting = [Training("ner", seed, {"seed": seed}, tmp_path) for seed in range(4)]
    with ThreadPoolExecutor(4) as executor:
        outcomes = list(
            executor.map(lambda each: trainings._train_in_worker(each, None, []), waiting)
        )
    assert [each.failure for each in outcomes] == [""] * 4


def test_without_dask_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(BiLmError, match=r"install elmo_plugin\[cluster\]"):
        train_in_processes([], workers=2)
