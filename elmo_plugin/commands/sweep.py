"""`elmo sweep`: trains several configurations with several seeds."""

import argparse
import logging
import math
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived

from elmo_plugin.commands.arguments.training import table_file
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.plotting import check_plot
from elmo_plugin.common.streams import show
from elmo_plugin.sweeps import (
    Metric,
    Outcome,
    Training,
    draw,
    find_trainings,
    read_metrics,
    read_provenance,
    table,
    train,
    train_in_processes,
)

logger = logging.getLogger(__name__)

Scores = dict[str, list[float]]  # of the seeds of each configuration


def run(args: argparse.Namespace) -> None:
    """Finds all mistakes before anything is trained. Raises `SystemExit` at the end if trainings failed."""
    if args.plot is not None:
        check_plot("--plot", args.plot)
    if args.json is not None:
        _read_results(Path(args.json))
    folder = Path(args.serialization_dir)
    trainings = find_trainings(args.configs, folder, args.seeds, args.overrides)
    metric = Metric.parse(args.metric) if args.metric else _validation_metric(trainings)
    if metric.is_of_test:
        _check_evaluated_on_test(trainings)
    for training in trainings:
        if training.folder.exists():
            _score(training, read_metrics(training.config, training.folder), metric)
    workers = args.workers or 1
    if workers > 1 or args.dask is not None:
        packages = getattr(args, "include_package", [])  # an option of `allennlp` alone
        outcomes: Iterable[Outcome] = train_in_processes(trainings, workers, args.dask or None, packages)
    else:
        outcomes = _train(trainings)
    scores, failures = _judge(trainings, outcomes, metric)
    text = table(scores, str(metric))
    show(f"\n{text}")
    with atomic_write(table_file(args.serialization_dir)) as temporary:
        temporary.write_text(text, encoding="utf-8")
    try:
        draw(scores, str(metric), args.plot or folder / "table.svg")
    except BiLmError as error:
        show(f"no plot: {error}")
    if args.json is not None:
        write_json(args.json, _read_results(Path(args.json)) | _results(trainings, scores))
    if failures:
        raise SystemExit("\n".join(failures))


def _validation_metric(trainings: Sequence[Training]) -> Metric:
    metrics = {
        training.name: training.config.get("trainer", {}).get("validation_metric", "-loss")
        for training in trainings
    }
    metric, *others = dict.fromkeys(metrics.values())
    if others:
        differing = ", ".join(f"{metric} of {name}" for name, metric in metrics.items())
        raise ConfigurationError(f"give one --metric for all configurations; their own are {differing}")
    return Metric.parse(metric)


def _check_evaluated_on_test(trainings: Sequence[Training]) -> None:
    for training in trainings:
        if not (training.config.get("test_data_path") and training.config.get("evaluate_on_test")):
            raise ConfigurationError(
                f"--metric is of the test data, on which {training.name} is not evaluated; give it "
                "test_data_path, and evaluate_on_test: true"
            )


def _train(trainings: Sequence[Training]) -> Iterator[Outcome]:
    """Trains one after another."""
    for number, training in enumerate(trainings, start=1):
        show(f"\n{training}: training {number} of {len(trainings)}")
        try:
            yield Outcome(train(training.config, training.folder, not sys.stderr.isatty()))
        except SigTermReceived:
            raise
        except Exception as error:
            yield Outcome.of_error(error)


def _judge(
    trainings: Sequence[Training], outcomes: Iterable[Outcome], metric: Metric
) -> tuple[Scores, list[str]]:
    """Returns the scores of each configuration, and a sentence for each training that failed."""
    scores: Scores = {training.name: [] for training in trainings}
    failures = []
    for training, outcome in zip(trainings, outcomes, strict=True):
        score = math.nan if outcome.metrics is None else _score(training, outcome.metrics, metric)
        if math.isfinite(score):
            scores[training.name].append(score)
            continue
        why = outcome.failure or f"its {metric.name} is {score}"
        logger.error("%s failed: %s", training, outcome.details or why)
        failures.append(f"{training} failed: {why}")
    return scores, failures


def _score(training: Training, metrics: dict[str, Any], metric: Metric) -> float:
    try:
        return metric.score(metrics)
    except ConfigurationError as error:
        raise ConfigurationError(f"{training.folder}: {error}") from None


def _read_results(file: Path) -> dict[str, Any]:
    """Returns the content of `--json`. Raises `BiLmError` if scores cannot be added to it."""
    try:
        return read_json_object(file, str(file)) if file.is_file() else {}
    except BiLmError as error:
        raise BiLmError(f"--json: {error}") from None


def _results(trainings: Sequence[Training], scores: Scores) -> dict[str, Any]:
    """Returns the scores of the configurations without failures, with command, commit, date and machine."""
    program = "allennlp" if sys.argv[1:2] == ["elmo-sweep"] else "elmo"
    command = shlex.join([program, *sys.argv[1:]])
    results = {}
    for name, values in scores.items():
        seeds = [training for training in trainings if training.name == name]
        if len(values) == len(seeds):
            results[name] = {"scores": values, "command": command, **read_provenance(seeds)}
    return results
