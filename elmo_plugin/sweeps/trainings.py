"""
Trains several configurations, each with several seeds: one after another, or in several processes
of this machine or of a Dask cluster. A training that is finished already is not repeated.
"""

import copy
import gc
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.models.archival import CONFIG_NAME
from filelock import Timeout

from elmo_plugin.archives import import_all_plugins
from elmo_plugin.common.errors import BiLmError, raise_if_sigterm
from elmo_plugin.common.files import locked, write_json
from elmo_plugin.common.local_cluster import start_local_cluster
from elmo_plugin.common.logs import close_log_files
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.common.provenance import provenance
from elmo_plugin.common.streams import show
from elmo_plugin.sweeps.configs import check_object, differing_keys, read_configs, with_seed
from elmo_plugin.training import check_recovery

METRICS_NAME = "metrics.json"
PROVENANCE_NAME = "provenance.json"
RESUMABLE_TRAINERS = ("bilm", "resumable")
# Errors that a user's mistake raises. Their message is enough: a traceback would not help.
_USER_MISTAKES = (ConfigurationError, BiLmError, FileNotFoundError)


class Training(NamedTuple):
    """One training of a sweep."""

    name: str  # of the configuration
    seed: int
    config: dict[str, Any]  # with the seed in it
    folder: Path  # of the finished training

    def __str__(self) -> str:
        return f"{self.name} with seed {self.seed}"


def find_trainings(
    sources: Sequence[str], folder: Path, seeds: Sequence[int], overrides: str = ""
) -> list[Training]:
    """
    Lists each configuration of the `sources` with each seed; `ner` with seed 2 is in
    `folder/ner/2`. Raises `ConfigurationError` if two configurations have the same name, or a name
    cannot be a folder's.
    """
    configs: dict[str, dict[str, Any]] = {}
    for source in sources:
        for name, config in read_configs(source, overrides).items():
            if name in configs:
                raise ConfigurationError(f"several configurations have the name {name}")
            _check_folder_name(name, source)
            configs[name] = config
    trainings = []
    for name, config in configs.items():
        for seed in seeds:
            folder_of_training = folder / name / str(seed)
            trainings.append(Training(name, seed, with_seed(config, seed), folder_of_training))
    return trainings


def _check_folder_name(name: str, source: str) -> None:
    """Raises `ConfigurationError` if a folder cannot have the name of a configuration."""
    has_forbidden_character = any(character in name for character in ("/", "\\", "\0"))
    if has_forbidden_character or name in ("", ".", ".."):
        raise ConfigurationError(
            f"{source}: the configuration {name!r} cannot have a folder of its name; give it one "
            "without slashes and backslashes"
        )


class Outcome(NamedTuple):
    """The metrics of a training, or why it failed."""

    metrics: dict[str, Any] | None = None
    failure: str = ""
    details: str = ""  # the traceback, unless the failure is a user's mistake

    @classmethod
    def of_training(cls, training: Training, file_friendly_logging: bool) -> "Outcome":
        """Trains, or reads the metrics of a finished training, and returns the outcome."""
        try:
            metrics = train(training.config, training.folder, file_friendly_logging)
            return cls(metrics)
        except Exception as error:
            raise_if_sigterm(error)  # the signal ends the sweep, not only this training
            return cls.of_error(error)

    @classmethod
    def of_error(cls, error: Exception) -> "Outcome":
        """Returns the outcome of a training that failed with an error."""
        details = ""
        if not isinstance(error, _USER_MISTAKES):
            details = "".join(traceback.format_exception(error))
        return cls(failure=f"{type(error).__name__}: {error}", details=details)


def train_in_turn(trainings: Sequence[Training]) -> Iterator[Outcome]:
    """Runs the trainings one after another, and yields the outcome of each."""
    is_terminal = sys.stderr.isatty()
    for number, training in enumerate(trainings, start=1):
        show()  # an empty line between two trainings
        show(f"{training}: training {number} of {len(trainings)}")
        yield Outcome.of_training(training, file_friendly_logging=not is_terminal)


# Held while a worker trains. Dask runs a worker's tasks in threads, but trainings in threads would
# share random numbers, logs and output.
_ONE_AT_A_TIME = Lock()


def train_in_processes(
    trainings: Sequence[Training],
    workers: int,
    scheduler: str | None = None,
    packages: Sequence[str] = (),
) -> list[Outcome]:
    """
    Runs several trainings at a time, and returns the outcomes in the order of the trainings. Each
    process imports the `packages`, because they register classes. Raises `BiLmError` if Dask is not
    installed.

    Without a `scheduler`, the trainings run in processes of this machine, as many as `workers`,
    among which its cores are divided. With a scheduler, they run on the Dask cluster at this
    address, whose machines must see all files at the same paths.

    If a process dies, Dask starts its training again in another one. It gives up, and the training
    has failed, when the fourth process has died.
    """
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise BiLmError("--workers and --dask need Dask: install elmo_plugin[cluster]") from None
    if scheduler is not None:
        client = Client(scheduler)
        threads = None  # each machine of the cluster keeps its own number of threads
    else:
        # Without a limit, beyond which Dask would end processes that need more memory.
        client = start_local_cluster(workers, memory_limit=0)
        threads = max(1, torch.get_num_threads() // workers)
    with client:
        train_one = partial(_train_in_worker, threads=threads, packages=packages)
        # `pure=False` makes Dask run a training even if it has kept the result of an equal one.
        tasks = client.map(train_one, trainings, pure=False)
        with progress_bar(total=len(trainings), unit="training") as bar:
            for _ in as_completed(tasks):
                bar.update()
        return [_outcome_of_task(task) for task in tasks]


def _train_in_worker(training: Training, threads: int | None, packages: Sequence[str]) -> Outcome:
    """
    Runs a training in a process of Dask's, with this number of threads if it is given. Nothing is
    printed: the outputs of several trainings would mix, and the folder of each has its log.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    with (
        _ONE_AT_A_TIME,
        open(os.devnull, "w", encoding="utf-8") as null,
        redirect_stdout(null),
        redirect_stderr(null),
    ):
        import_all_plugins(subject="elmo sweep")
        for package in packages:
            import_module(package)
        return Outcome.of_training(training, file_friendly_logging=True)


def _outcome_of_task(task: Any) -> Outcome:
    """Returns the outcome of a task of Dask that has ended."""
    from dask.distributed import KilledWorker

    error = task.exception()
    if error is None:
        return task.result()
    # The error's own message would not help: it names tasks and addresses of Dask.
    if isinstance(error, KilledWorker):
        return Outcome(failure="its process died too often (KilledWorker)")
    return Outcome.of_error(error)


def train(
    config: dict[str, Any], folder: Path, file_friendly_logging: bool = False
) -> dict[str, Any]:
    """
    Trains in the folder `FOLDER.unfinished/training`, renames it to `folder` when the training is
    finished, and returns the metrics. If `folder` exists already, only reads its metrics.

    If an earlier process was killed, `RESUMABLE_TRAINERS` continue from its last checkpoint; others
    start again. Raises `ConfigurationError` if the folder has another training, or if another
    process is training there.
    """
    if not folder.exists():
        with _locked_folder(folder.with_name(f"{folder.name}.unfinished")) as unfinished:
            # Another sweep may have finished the training before this one got the lock.
            if not folder.exists():
                # Found out before the training, because the code may change while it runs.
                provenance_at_start = provenance()
                unfinished_training = unfinished / "training"
                _train_in_folder(config, unfinished_training, file_friendly_logging)
                write_json(unfinished_training / PROVENANCE_NAME, provenance_at_start)
                unfinished_training.rename(folder)
    return read_metrics(config, folder)


@contextmanager
def _locked_folder(unfinished: Path) -> Iterator[Path]:
    """
    Makes and locks the folder of an unfinished training while the block runs, and yields it.
    Afterwards this folder, and the folders of the configuration and the sweep around it, are
    removed if they are empty.

    Raises `ConfigurationError` if another process has locked the folder.
    """
    unfinished.mkdir(parents=True, exist_ok=True)
    try:
        with locked(unfinished / "lock"):
            yield unfinished
    except Timeout:
        raise ConfigurationError(f"another process is training in {unfinished}") from None
    finally:
        config_folder = unfinished.parent
        sweep_folder = config_folder.parent
        # `rmdir` raises `OSError` if a folder is not empty. Then those around it are not either.
        with suppress(OSError):
            unfinished.rmdir()
            config_folder.rmdir()
            sweep_folder.rmdir()


def _train_in_folder(config: dict[str, Any], folder: Path, file_friendly_logging: bool) -> None:
    """
    Trains in a folder. If an earlier process has begun the training there, and the trainer can
    resume it, it continues. Raises `ConfigurationError` if the earlier training has another
    configuration.
    """
    can_resume = config.get("trainer", {}).get("type") in RESUMABLE_TRAINERS
    recover = can_resume and (folder / CONFIG_NAME).exists()
    if recover:
        check_recovery(folder, Params(copy.deepcopy(config)))
    # Frees the memory of the previous training's model: there may not be enough for two.
    gc.collect()
    try:
        train_model(
            Params(copy.deepcopy(config)),  # a copy, because reading `Params` empties them
            folder,
            recover=recover,
            force=not recover,  # removes the folder with a training that cannot be resumed
            file_friendly_logging=file_friendly_logging,
        )
    finally:
        close_log_files()


def read_metrics(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """
    Returns the metrics of a finished training. Raises `ConfigurationError` if the folder has a
    training of another configuration, or an unfinished one.
    """
    try:
        trained = json.loads((folder / CONFIG_NAME).read_text(encoding="utf-8"))
        metrics = json.loads((folder / METRICS_NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise ConfigurationError(f"{folder} exists, but its training is not finished") from None
    check_object(trained, str(folder / CONFIG_NAME))
    check_object(metrics, str(folder / METRICS_NAME))
    differing = differing_keys(trained, config)
    if differing:
        raise ConfigurationError(f"{folder} has another training: different {differing}")
    return metrics
