"""`allennlp elmo-sweep`: several configurations, each trained with several seeds."""

import argparse
import logging
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from overrides import overrides

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.files import replace_when_written, write_json
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.plotting import check_plot
from elmo_plugin.sweeps import (
    Metric,
    Reach,
    Training,
    curve_table,
    draw,
    draw_curves,
    find_reaches,
    find_trainings,
    learning_curves,
    reaches_text,
    read_metrics,
    table,
    train,
)

logger = logging.getLogger(__name__)


@Subcommand.register("elmo-sweep")
class ElmoSweep(Subcommand):
    """Trains; prints and writes a table and a plot."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Train each configuration with several seeds, one after another, and compare their "
            "scores. What is finished in DIR is not trained again: a sweep that was stopped goes on when you "
            "start it again, and you may add seeds and configurations.",
            help="Train configurations with several seeds and compare them.",
        )
        add = subparser.add_argument
        about_configs = "a configuration, as for `allennlp train`, or FILE:VARIANT; 'FILE:sst_*' for several"
        add("configs", nargs="+", metavar="CONFIG", help=about_configs)
        add("-s", "--serialization-dir", required=True, metavar="DIR", help="gets DIR/NAME/SEED and a table")
        add("--seeds", type=int, default=3, metavar="N", help="train with the seeds 1 to N")
        add("-o", "--overrides", default="", help="of all configurations, as for `allennlp train`")
        add(
            "--metric", help="--metric=+accuracy or --metric=-loss (default: the trainer's validation_metric)"
        )
        about = "train on these nested random parts of the training data, such as 0.01 0.1 1"
        add("--fractions", type=float, nargs="+", default=[], metavar="PART", help=about)
        add("--json", metavar="FILE", help="add the scores to this file, next to those that it has")
        add("--plot", metavar="FILE", help="where to draw, as .svg, .png or .pdf (default: DIR/table.svg)")
        add("--file-friendly-logging", action="store_true", help="as for `allennlp train`")
        subparser.set_defaults(
            func=lambda args: sweep(
                args.configs,
                args.serialization_dir,
                args.seeds,
                args.overrides,
                args.metric,
                args.json,
                args.plot,
                args.file_friendly_logging,
                args.fractions,
            ),
            kept=lambda args: args.serialization_dir,
        )
        return subparser


def sweep(
    configs: Sequence[str],
    folder: str | Path,
    seeds: int,
    overrides: str = "",
    metric: str | None = None,
    json_file: str | None = None,
    plot: str | None = None,
    file_friendly_logging: bool = False,
    fractions: Sequence[float] = (),
) -> None:
    """
    Trains what is not trained yet; prints and writes a table of the scores, and draws them.

    # Parameters

    configs : `Sequence[str]`
        Files or `FILE:VARIANT`, see `elmo_plugin.sweeps.trainings.read_configs`.
    folder : `str | Path`
        Gets a folder for each training, `table.md` and, without `plot`, `table.svg`.
    seeds : `int`
        Each is trained with the seeds from 1 to this.
    overrides, file_friendly_logging
        See `allennlp train`.
    metric : `str`, optional
        See `Metric.parse`. By default that of the trainers, which must then be the same.
    json_file : `str`, optional
        Gets, for each configuration that was trained with all seeds, `{"scores": […], "command": "…"}`.
    plot : `str`, optional
        A picture, in the format of its ending.
    fractions : `Sequence[float]`, optional (default = `()`)
        Parts of the training data, see `find_trainings`. The table has a row for each, the picture is a
        curve, and what is printed and written says how much of the data, and how many updates, a
        configuration needs for the score that another has with most data.

    Raises `ConfigurationError`, before anything is trained, where the arguments are wrong or `folder` has
    other trainings. A training that fails does not keep the others from being done; then it ends with a
    `SystemExit` that names those that failed.
    """
    if seeds < 1:
        raise ConfigurationError(f"--seeds is the number of seeds, 1 or more, not {seeds}")
    if plot is not None:
        with as_configuration_error():
            check_plot("--plot", plot)
    if json_file is not None:
        _read_scores(Path(json_file))
    for fraction in fractions:
        if not 0 < fraction <= 1:
            raise ConfigurationError(f"--fractions are above 0 and at most 1, not {fraction}")
    fractions = sorted(set(fractions))
    trainings = find_trainings(configs, Path(folder), seeds, overrides, fractions)
    of_table = Metric.parse(metric) if metric else _validation_metric(trainings)
    if of_table.is_of_test:
        _check_evaluated_on_test(trainings)
    for training in trainings:
        if training.folder.exists():
            read_metrics(training.config, training.folder)
    scores, failures = _train(trainings, of_table, file_friendly_logging)
    complete = {name: values for name, values in scores.items() if len(values) == seeds}
    picture = plot or Path(folder) / "table.svg"
    if fractions:
        curves = learning_curves(trainings, complete)
        reaches = find_reaches(trainings, curves, of_table)
        _write_table(f"{curve_table(curves, str(of_table))}\n{reaches_text(reaches)}", Path(folder))
        _draw(lambda: draw_curves(curves, str(of_table), picture))
    else:
        _write_table(table(scores, str(of_table)), Path(folder))
        _draw(lambda: draw(scores, str(of_table), picture))
        reaches = []
    if json_file is not None:
        _add_scores(Path(json_file), complete, reaches)
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


def _train(
    trainings: Sequence[Training], metric: Metric, file_friendly_logging: bool
) -> tuple[dict[str, list[float]], list[str]]:
    """Returns the scores of each configuration, and a sentence for each training that failed."""
    scores: dict[str, list[float]] = {training.full_name: [] for training in trainings}
    failures = []
    for number, training in enumerate(trainings, start=1):
        print(f"\n{training}: training {number} of {len(trainings)}")
        try:
            metrics = train(training.config, training.folder, file_friendly_logging)
        except SigTermReceived:
            raise
        except Exception as error:
            is_users_mistake = isinstance(error, ConfigurationError | BiLmError)
            logger.error("%s failed", training, exc_info=None if is_users_mistake else error)
            failures.append(f"{training} failed: {type(error).__name__}: {error}")
        else:
            scores[training.full_name].append(metric.score(metrics))
    return scores, failures


def _write_table(text: str, folder: Path) -> None:
    print(f"\n{text}")
    with replace_when_written(folder / "table.md") as temporary:
        temporary.write_text(text, encoding="utf-8")


def _draw(picture: Callable[[], None]) -> None:
    try:
        picture()
    except BiLmError as error:
        print(f"no plot: {error}")


def _read_scores(file: Path) -> dict[str, Any]:
    """Returns what `--json` has. Raises `ConfigurationError` where scores cannot be added to it."""
    with as_configuration_error("--json"):
        if file.is_dir():
            raise BiLmError(f"{file} is a directory; name a file to be written")
        return read_json_object(file, str(file)) if file.exists() else {}


def _add_scores(file: Path, scores: dict[str, list[float]], reaches: Sequence[Reach]) -> None:
    results = _read_scores(file)
    command = shlex.join(["allennlp", *sys.argv[1:]])
    for name, values in scores.items():
        results[name] = {"scores": values, "command": command}
    for reach in reaches:
        about = {"score": reach.score, "fraction": reach.fraction, "updates": reach.updates}
        results[f"{reach.name}@{reach.most:g}"].setdefault("reaches", {})[reach.other] = about
    write_json(file, results)
