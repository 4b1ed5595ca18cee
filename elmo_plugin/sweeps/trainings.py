"""Trains several configurations with several seeds, each once."""

import copy
import fnmatch
import gc
import itertools
import json
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import parse_overrides, with_overrides
from allennlp.models.archival import CONFIG_NAME
from filelock import Timeout

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import locked, write_json
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.provenance import commit, provenance

METRICS_NAME = "metrics.json"
PROVENANCE_NAME = "provenance.json"
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")


class Training(NamedTuple):
    """
    One training of a sweep.

    name: of the configuration
    seed: of all libraries
    config: the whole configuration, with the seed
    folder: of the finished training
    fraction: of the training data; `None` for all of it
    """

    name: str
    seed: int
    config: dict[str, Any]
    folder: Path
    fraction: float | None = None

    @property
    def full_name(self) -> str:
        """Its name and its part of the data, such as `snli_elmo@0.1`."""
        return self.name if self.fraction is None else f"{self.name}@{self.fraction:g}"

    def __str__(self) -> str:
        return f"{self.full_name} with seed {self.seed}"


class Outcome(NamedTuple):
    """
    What became of a training.

    metrics: of one that succeeded
    failure: a sentence on one that did not
    details: its traceback, unless it is a user's mistake
    """

    metrics: dict[str, Any] | None = None
    failure: str = ""
    details: str = ""

    @classmethod
    def of_error(cls, error: Exception) -> "Outcome":
        is_mistake = isinstance(error, ConfigurationError | BiLmError)
        details = "" if is_mistake else "".join(traceback.format_exception(error))
        return cls(failure=f"{type(error).__name__}: {error}", details=details)


def with_seed(config: dict[str, Any], seed: int) -> dict[str, Any]:
    """Returns the configuration with this seed for every library."""
    return config | dict.fromkeys(SEEDS, seed)


def with_fraction(config: dict[str, Any], fraction: float, seed: int) -> dict[str, Any]:
    """
    Returns the configuration with a part of its training data, see `FractionReader`, and with the callback
    `updates`. The validation data stay whole.

    Raises `ConfigurationError` if it has no dataset reader.
    """
    reader = config.get("dataset_reader")
    if not isinstance(reader, dict):
        raise ConfigurationError("for a part of the data, a configuration needs a dataset_reader")
    trainer = config.get("trainer", {})
    return config | {
        "dataset_reader": {
            "type": "fraction",
            "base_reader": copy.deepcopy(reader),
            "fraction": fraction,
            "seed": seed,
        },
        "validation_dataset_reader": config.get("validation_dataset_reader") or reader,
        "trainer": trainer | {"callbacks": [*(trainer.get("callbacks") or []), "updates"]},
    }


def train(config: dict[str, Any], folder: Path, file_friendly_logging: bool = False) -> dict[str, Any]:
    """
    Trains, unless that was done before. A training is in `FOLDER.unfinished/training` until it ends; other
    files of `FOLDER.unfinished` stay there. After a kill it ends as if there had been none: with the trainer
    `bilm` it resumes from its last checkpoint, with others it starts again, as what AllenNLP recovers has
    other random numbers, and may lack the best weights.

    # Parameters

    config : `dict[str, Any]`
        The whole configuration.
    folder : `Path`
        The folder of the finished training.
    file_friendly_logging : `bool`, optional (default = `False`)
        See `allennlp train`.

    # Returns

    `dict[str, Any]`
        Its metrics.

    Raises `ConfigurationError` if `folder` has another training, or another process trains there.
    """
    if not folder.exists():
        with _locked(unfinished_folder(folder)) as unfinished:
            if not folder.exists():  # another sweep may have finished it
                measured = provenance() | {"commit": _commit()}
                _train(config, unfinished / "training", file_friendly_logging)
                write_json(unfinished / "training" / PROVENANCE_NAME, measured)
                (unfinished / "training").rename(folder)
    return read_metrics(config, folder)


@cache
def _commit() -> str:
    """Returns the commit of the code that this process has imported: later ones don't change what it runs."""
    return commit()


def unfinished_folder(folder: Path) -> Path:
    """Where a training is until it ends, see `train`."""
    return folder.with_name(f"{folder.name}.unfinished")


@contextmanager
def _locked(unfinished: Path) -> Iterator[Path]:
    """
    Locks the folder of an unfinished training for this process. At the end removes it, and those above it
    that are of the sweep, if nothing is left in them.
    """
    unfinished.mkdir(parents=True, exist_ok=True)
    try:
        with locked(unfinished / "lock", timeout=0):
            yield unfinished
    except Timeout:
        raise ConfigurationError(f"another process is training in {unfinished}") from None
    finally:
        with suppress(OSError):  # there is something in it
            for folder in (unfinished, *unfinished.parents[:2]):
                folder.rmdir()


def _train(config: dict[str, Any], folder: Path, file_friendly_logging: bool) -> None:
    recover = config.get("trainer", {}).get("type") == "bilm" and (folder / CONFIG_NAME).is_file()
    gc.collect()  # frees the model of the last training, as two may not fit in memory
    train_model(
        Params(copy.deepcopy(config)),
        folder,
        recover=recover,
        force=not recover,
        file_friendly_logging=file_friendly_logging,
    )


def read_metrics(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the metrics of a finished training. Raises `ConfigurationError` if the folder has another."""
    try:
        found, metrics = (
            json.loads((folder / name).read_text(encoding="utf-8")) for name in (CONFIG_NAME, METRICS_NAME)
        )
    except (OSError, ValueError):
        raise ConfigurationError(f"{folder} is there, but has no finished training") from None
    for name, content in ((CONFIG_NAME, found), (METRICS_NAME, metrics)):
        if not isinstance(content, dict):
            raise ConfigurationError(f"{folder / name}: expected a JSON object, found {content!r:.40}")
    if found != config:
        old, new = (Params(each).as_flat_dict() for each in (found, config))
        other = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        raise ConfigurationError(
            f"{folder} has a training with another configuration: other {', '.join(other)}"
        )
    return metrics


def read_provenance(trainings: Sequence[Training]) -> dict[str, str]:
    """Returns the commit, the date and the machine of the trainings; several are joined by semicolons."""
    files = [training.folder / PROVENANCE_NAME for training in trainings]
    found = [read_json_object(file, str(file)) for file in files if file.is_file()]
    names = dict.fromkeys(name for each in found for name in each)
    return {name: "; ".join(sorted({str(each.get(name, "")) for each in found})) for name in names}


def find_trainings(
    sources: Sequence[str],
    folder: Path,
    seeds: int,
    overrides: str = "",
    fractions: Sequence[float] = (),
) -> list[Training]:
    """
    Lists the trainings of a sweep, the seeds of a configuration one after another.

    # Parameters

    sources : `Sequence[str]`
        See `read_configs`.
    folder : `Path`
        The folder of all: the training with seed 2 of the configuration `ner_elmo` is in `ner_elmo/2`.
    seeds : `int`
        Each configuration is trained with the seeds from 1 to this.
    overrides : `str`, optional (default = `""`)
        Of all configurations, as for `allennlp train`.
    fractions : `Sequence[float]`, optional (default = `()`)
        Parts of the training data: each configuration is trained on each of them, in `ner_elmo@0.1/2`. They
        depend on the seed, and are the same for all configurations.

    Raises `ConfigurationError` if two configurations have the same name, or one cannot be that of a folder.
    """
    trainings = []
    names: set[str] = set()
    for source in sources:
        for name, config in read_configs(source, overrides).items():
            if name in names:
                raise ConfigurationError(f"several configurations have the name {name}")
            _check_name(name, source)
            names.add(name)
            for fraction, seed in itertools.product(fractions or (None,), range(1, seeds + 1)):
                seeded = with_seed(config, seed)
                if fraction is not None:
                    seeded = with_fraction(seeded, fraction, seed)
                training = Training(name, seed, seeded, folder, fraction)
                trainings.append(training._replace(folder=folder / training.full_name / str(seed)))
    return trainings


def _check_name(name: str, source: str) -> None:
    if name in ("", ".", "..") or any(character in name for character in "/\\@\0"):
        raise ConfigurationError(
            f"{source}: the configuration {name!r} cannot have a folder of its name; give it one without "
            "slashes, backslashes and @"
        )


def read_configs(source: str, overrides: str = "") -> dict[str, dict[str, Any]]:
    """
    Reads configurations.

    # Parameters

    source : `str`
        A file, whose name without its suffix becomes that of the configuration; or `FILE:VARIANT`, a field of
        the object in a file. `FILE:sst_*` names all variants that match.
    overrides : `str`, optional (default = `""`)
        Of each configuration, as for `allennlp train`.

    # Returns

    `dict[str, dict[str, Any]]`
        The configurations by their names.

    Raises `ConfigurationError` if the file has no such variant, or something else than configurations.
    """
    file, _, pattern = source.rpartition(":")
    is_plain = not file or "/" in pattern or "\\" in pattern  # no colon, or that of a URL or of a drive
    try:
        found = Params.from_file(source if is_plain else file).as_dict(quiet=True)
        changes = parse_overrides(overrides)
    except RuntimeError as error:  # Jsonnet's
        raise ConfigurationError(" ".join(str(error).split())) from None
    _check_object(changes, "the overrides")
    _check_object(found, source if is_plain else file)
    configs = {Path(source).stem: found} if is_plain else found
    names = list(configs) if is_plain else fnmatch.filter(configs, pattern)
    if not names:
        raise ConfigurationError(f"{file} has no variant {pattern}, but {', '.join(configs)}")
    for name in names:
        _check_object(configs[name], f"{source}: {name}")
    changed = {name: with_overrides(configs[name], changes) for name in names}
    for name, config in changed.items():
        _check_object(config.get("trainer", {}), f"{source}: {name}, its trainer")
    return changed


def _check_object(value: Any, what: str) -> None:
    if not isinstance(value, dict):
        raise ConfigurationError(f"{what}: expected a JSON object, found {value!r:.40}")
