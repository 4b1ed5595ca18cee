"""`elmo sweep`: trains several configurations with several seeds."""

import argparse
import logging
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived

from elmo_plugin.commands.command import Command, OutputPath
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, locked, write_json
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.outputs import is_special
from elmo_plugin.common.plotting import check_plot
from elmo_plugin.sweeps import (
    Metric,
    Outcome,
    Reach,
    Training,
    curve_table,
    curves_of_results,
    draw,
    draw_curves,
    find_reaches,
    find_trainings,
    reaches_text,
    read_metrics,
    read_provenance,
    table,
    train,
    train_in_processes,
)

logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = "a configuration, as for `allennlp train`, or FILE:VARIANT; 'FILE:sst_*' for several"
    add("configs", nargs="+", metavar="CONFIG", help=about)
    about = "gets DIR/NAME/SEED and a table"
    add("-s", "--serialization-dir", type=OutputPath, required=True, metavar="DIR", help=about)
    add("--seeds", type=int, default=3, metavar="N", help="train with the seeds 1 to N")
    add("-o", "--overrides", default="", help="of all configurations, as for `allennlp train`")
    add("--metric", help="--metric=+accuracy or --metric=-loss (default: the trainer's validation_metric)")
    about = "train on these nested random parts of the training data, such as 0.01 0.1 1"
    add("--fractions", type=float, nargs="+", default=[], metavar="PART", help=about)
    about = "add the scores to this file, next to those that it has"
    add("--json", type=OutputPath, metavar="FILE", help=about)
    about = "where to draw, as .svg, .png or .pdf (default: DIR/table.svg)"
    add("--plot", type=OutputPath, metavar="FILE", help=about)
    about = "train N at a time, each with its share of the cores (default: one; several need Dask)"
    add("--workers", type=int, default=1, metavar="N", help=about)
    add("--dask", metavar="SCHEDULER", help="train on the workers of the Dask cluster with this address")
    add("--file-friendly-logging", action="store_true", help="as for `allennlp train`")


def run(args: argparse.Namespace) -> None:
    """
    Finds all mistakes before anything is trained. A training that fails does not stop the others; a
    `SystemExit` names those that failed at the end.
    """
    if args.seeds < 1:
        raise BiLmError(f"--seeds is the number of seeds, 1 or more, not {args.seeds}")
    if args.workers < 1:
        raise BiLmError(f"--workers is the number of trainings at a time, 1 or more, not {args.workers}")
    if args.plot is not None:
        check_plot("--plot", args.plot)
    if args.json is not None:
        _read_scores(Path(args.json))
    for fraction in args.fractions:
        if not 0 < fraction <= 1:
            raise BiLmError(f"--fractions are above 0 and at most 1, not {fraction}")
    folder = Path(args.serialization_dir)
    trainings = find_trainings(args.configs, folder, args.seeds, args.overrides, sorted({*args.fractions}))
    metric = Metric.parse(args.metric) if args.metric else _validation_metric(trainings)
    if metric.is_of_test:
        _check_evaluated_on_test(trainings)
    for training in trainings:
        if training.folder.exists():
            _score(training, read_metrics(training.config, training.folder), metric)
    if args.workers > 1 or args.dask is not None:
        packages = getattr(args, "include_package", [])  # an option of `allennlp` alone
        outcomes: Iterable[Outcome] = train_in_processes(trainings, args.workers, args.dask, packages)
    else:
        outcomes = _train(trainings, args.file_friendly_logging)
    scores, failures = _judge(trainings, outcomes, metric)
    complete = {name: values for name, values in scores.items() if len(values) == args.seeds}
    picture = args.plot or folder / "table.svg"
    reaches: list[Reach] = []
    if args.fractions:
        curves = curves_of_results({name: {"scores": values} for name, values in complete.items()})
        reaches = find_reaches(trainings, curves, metric)
        _write_table(f"{curve_table(curves, str(metric))}\n{reaches_text(reaches)}", folder)
        _draw(lambda: draw_curves(curves, str(metric), picture))
    else:
        _write_table(table(scores, str(metric)), folder)
        _draw(lambda: draw(scores, str(metric), picture))
    if args.json is not None:
        measured = {
            name: read_provenance([each for each in trainings if each.full_name == name]) for name in complete
        }
        _add_scores(Path(args.json), complete, reaches, measured)
    if failures:
        raise SystemExit("\n".join(failures))


def _validation_metric(trainings: Sequence[Training]) -> Metric:
    metrics = {
        each.name: each.config.get("trainer", {}).get("validation_metric", "-loss") for each in trainings
    }
    metric, *others = dict.fromkeys(metrics.values())
    if others:
        found = ", ".join(f"{metric} of {name}" for name, metric in metrics.items())
        raise ConfigurationError(f"give one --metric for all configurations; their own are {found}")
    return Metric.parse(metric)


def _check_evaluated_on_test(trainings: Sequence[Training]) -> None:
    for training in trainings:
        if not (training.config.get("test_data_path") and training.config.get("evaluate_on_test")):
            raise ConfigurationError(
                f"--metric is of the test data, on which {training.name} is not evaluated; give it "
                "test_data_path, and evaluate_on_test: true"
            )


def _train(trainings: Sequence[Training], file_friendly_logging: bool) -> Iterator[Outcome]:
    """Trains one after another."""
    for number, training in enumerate(trainings, start=1):
        print(f"\n{training}: training {number} of {len(trainings)}")
        try:
            yield Outcome(train(training.config, training.folder, file_friendly_logging))
        except SigTermReceived:
            raise
        except Exception as error:
            yield Outcome.of_error(error)


def _judge(
    trainings: Sequence[Training], outcomes: Iterable[Outcome], metric: Metric
) -> tuple[dict[str, list[float]], list[str]]:
    """Returns the scores of each configuration, and a sentence for each training that failed."""
    scores: dict[str, list[float]] = {training.full_name: [] for training in trainings}
    failures = []
    for training, outcome in zip(trainings, outcomes, strict=True):
        score = math.nan if outcome.metrics is None else _score(training, outcome.metrics, metric)
        if math.isfinite(score):
            scores[training.full_name].append(score)
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


def _write_table(text: str, folder: Path) -> None:
    print(f"\n{text}")
    with atomic_write(_table_file(folder)) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _draw(picture: Callable[[], None]) -> None:
    try:
        picture()
    except BiLmError as error:
        print(f"no plot: {error}")


def _read_scores(file: Path) -> dict[str, Any]:
    """
    Returns the content of `--json`, which a device or a pipe does not have. Raises `BiLmError` if scores
    cannot be added to it.
    """
    try:
        return read_json_object(file, str(file)) if file.exists() and not is_special(file) else {}
    except BiLmError as error:
        raise BiLmError(f"--json: {error}") from None


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Makes other sweeps that add to the same file wait, unless it is a device or a pipe."""
    if is_special(file):
        yield
        return
    real = Path(os.path.realpath(file))
    lock = real.with_name(f".{real.name}.lock")
    with locked(lock):
        yield


def _add_scores(
    file: Path,
    scores: dict[str, list[float]],
    reaches: Sequence[Reach],
    measured: dict[str, dict[str, str]],
) -> None:
    program = "allennlp" if sys.argv[1:2] == ["elmo-sweep"] else "elmo"
    command = shlex.join([program, *sys.argv[1:]])
    with _locked(file):
        results = _read_scores(file)
        for name, values in scores.items():
            results[name] = {"scores": values, "command": command, **measured[name]}
        for reach in reaches:
            about = {"score": reach.score, "fraction": reach.fraction, "updates": reach.updates}
            results[f"{reach.name}@{reach.most:g}"].setdefault("reaches", {})[reach.other] = about
        write_json(file, results)


def outputs(args: argparse.Namespace) -> list[str | Path]:
    """Returns the table, in place of its folder."""
    return [_table_file(args.serialization_dir), *filter(None, [args.json, args.plot])]


def _table_file(folder: str | Path) -> Path:
    return Path(folder) / "table.md"


COMMAND = Command(
    description="Train each configuration with several seeds, and compare their scores. "
    "What is finished in DIR is not trained again: a sweep that was stopped continues when you start it "
    "again, and you may add seeds and configurations.",
    add_arguments=add_arguments,
    run=run,
    resume_path=lambda args: Path(args.serialization_dir),
    outputs=outputs,
)
