"""Trainings in several processes at a time, of this machine or of a Dask cluster."""

import os
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any

import torch

from elmo_plugin.archives import import_all_plugins
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.sweeps.trainings import Outcome, Training

# Trainings in threads of one process would share its random numbers, logs and output.
_ONE_AT_A_TIME = Lock()


def train_in_processes(
    trainings: Sequence[Training], workers: int, scheduler: str | None = None, packages: Sequence[str] = ()
) -> list[Outcome]:
    """
    Trains several at a time, each in a process with its share of the cores, or on the Dask cluster at the
    address `scheduler`, whose machines must see all files at the same paths. Returns the outcomes in order.
    A training whose process dies starts again or resumes; after the fourth death it has failed. `packages`
    register classes. Raises `BiLmError` if Dask is not installed.
    """
    try:
        from dask.distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise BiLmError("--workers and --dask need Dask: install elmo_plugin[cluster]") from None
    threads = None if scheduler else max(1, torch.get_num_threads() // workers)
    with ExitStack() as stack:
        cluster: Any = scheduler or stack.enter_context(
            LocalCluster(workers, threads_per_worker=1, memory_limit=0, dashboard_address=None)
        )
        client = stack.enter_context(Client(cluster))
        tasks = client.map(partial(_train, threads=threads, packages=packages), trainings, pure=False)
        bar = stack.enter_context(progress_bar(total=len(trainings), unit="training"))
        for _ in as_completed(tasks):
            bar.update()
        return [_outcome(task) for task in tasks]


def _train(training: Training, threads: int | None, packages: Sequence[str]) -> Outcome:
    """Runs in a worker, without output: the folder of the training has its log."""
    if threads is not None:
        torch.set_num_threads(threads)
    with (
        _ONE_AT_A_TIME,
        open(os.devnull, "w", encoding="utf-8") as null,
        redirect_stdout(null),
        redirect_stderr(null),
    ):
        import_all_plugins("elmo sweep")
        for package in packages:
            import_module(package)
        return Outcome.of(training, file_friendly_logging=True)


def _outcome(task: Any) -> Outcome:
    error = task.exception()
    if error is None:
        return task.result()
    if type(error).__name__ == "KilledWorker":  # whose message is about keys and addresses
        return Outcome(failure="its process died too often (KilledWorker)")
    return Outcome.of_error(error)
