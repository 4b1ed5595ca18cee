"""The scores of several trainings of each configuration, as a table and as JSON."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.logs import get_logger
from elmo_plugin.sweeps.trainings import PROVENANCE_NAME, Outcome, Training

logger = get_logger(__name__)

Scores = dict[str, list[float]]  # for each configuration, a score of each seed
_BEST = "best_validation_"  # how AllenNLP's names of the scores of the best epoch begin


class Metric(NamedTuple):
    """
    A metric at the best epoch, on the validation or the test data. Its name is `accuracy` for
    AllenNLP's `best_validation_accuracy`, and `test_accuracy` on the test data. If higher is
    better, the metric is in [0, 1] and scores are in per cent.
    """

    name: str
    higher_is_better: bool

    @classmethod
    def parse(cls, text: object) -> "Metric":
        """Reads the form of a trainer's `validation_metric`, such as `"+accuracy"` or `"-loss"`."""
        if not isinstance(text, str) or text[:1] not in ("+", "-") or len(text) < 2:
            raise ConfigurationError(
                f"metric: expected + or - at its start, such as +accuracy, got {text!r}"
            )
        return cls(text[1:], higher_is_better=text[0] == "+")

    def score(self, metrics: Mapping[str, Any], place: str = "") -> float:
        """
        Returns the score in a training's metrics, in per cent if higher is better, and rounded.
        Raises `ConfigurationError`, with a message that begins with `place`, if it is not there, or
        is not a number.
        """
        key = self.name
        if not key.startswith("test_"):
            key = _BEST + key
        if key not in metrics:
            scores = [name for name in metrics if name.startswith((_BEST, "test_"))]
            known = ", ".join(name.removeprefix(_BEST) for name in scores)
            raise ConfigurationError(f"{place}unknown metric {self.name}: expected one of {known}")
        value = metrics[key]
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ConfigurationError(
                f"{place}metric {self.name}: expected a number, got {value!r:.40}"
            )
        if self.higher_is_better:
            return round(100 * value, 2)
        return round(value, 4)

    def __str__(self) -> str:
        if self.higher_is_better:
            return f"{self.name} (%)"
        return f"{self.name} (lower is better)"


def find_metric(trainings: Sequence[Training], text: str | None) -> Metric:
    """
    Returns the metric by which trainings are compared: the one in `text`, or else the
    validation metric of their trainers.

    Raises `ConfigurationError` if the trainers have different metrics, or if the metric is one of
    the test data, but some training is not evaluated on them.
    """
    metric = Metric.parse(text or _common_validation_metric(trainings))
    if metric.name.startswith("test_"):
        for training in trainings:
            _check_evaluated_on_test(training)
    return metric


def _common_validation_metric(trainings: Sequence[Training]) -> object:
    """
    Returns the value of `validation_metric` that all configurations have, or AllenNLP's default.
    Raises `ConfigurationError` if they differ.
    """
    metric_of_name = {}
    for training in trainings:
        trainer = training.config.get("trainer", {})
        metric_of_name[training.name] = trainer.get("validation_metric", "-loss")
    metrics = list(metric_of_name.values())
    if any(metric != metrics[0] for metric in metrics):
        differing = ", ".join(f"{metric} of {name}" for name, metric in metric_of_name.items())
        raise ConfigurationError(
            f"give one --metric for all configurations; their own are {differing}"
        )
    return metrics[0]


def _check_evaluated_on_test(training: Training) -> None:
    """Raises `ConfigurationError` if a training is not evaluated on test data."""
    config = training.config
    if not config.get("test_data_path") or not config.get("evaluate_on_test"):
        raise ConfigurationError(
            f"--metric is of the test data, on which {training.name} is not evaluated; give it "
            "test_data_path, and evaluate_on_test: true"
        )


def judge(
    trainings: Sequence[Training], outcomes: Iterable[Outcome], metric: Metric
) -> tuple[Scores, list[str]]:
    """
    Returns the scores of each configuration, and a sentence for each training that failed; also
    logs why it failed. A training whose score is not finite has failed.
    """
    scores: Scores = {training.name: [] for training in trainings}
    failures = []
    for training, outcome in zip(trainings, outcomes, strict=True):
        if outcome.metrics is None:
            failure = outcome.failure
        else:
            score = metric.score(outcome.metrics, place=f"{training.folder}: ")
            if math.isfinite(score):
                scores[training.name].append(score)
                continue
            failure = f"its {metric.name} is {score}"
        failures.append(f"{training} failed: {failure}")
        logger.error("%s failed: %s", training, failure)
        for line in outcome.details.splitlines():
            logger.error("%s", line)
    return scores, failures


def results(trainings: Sequence[Training], scores: Scores, command: str) -> dict[str, Any]:
    """
    Returns what `--json` writes: for each configuration its scores, the command, and the provenance
    of its trainings. A configuration is left out if one of its trainings failed.
    """
    entries = {}
    for name, values in scores.items():
        folders = [training.folder for training in trainings if training.name == name]
        all_succeeded = len(values) == len(folders)
        if all_succeeded:
            entries[name] = {"scores": values, "command": command, **_joined_provenance(folders)}
    return entries


def _joined_provenance(folders: Sequence[Path]) -> dict[str, str]:
    """
    Returns the provenance of several trainings, such as their commit and machine, as one. Where
    their values differ, all are listed.
    """
    records = []
    for folder in folders:
        file = folder / PROVENANCE_NAME
        if file.is_file():
            records.append(read_json_object(file, str(file)))
    keys = dict.fromkeys(key for record in records for key in record)  # in order, each once
    joined = {}
    for key in keys:
        distinct = {str(record.get(key, "")) for record in records}
        joined[key] = "; ".join(sorted(distinct))
    return joined


def summary(scores: Sequence[float], digits: int = 2) -> str:
    """
    Formats the mean and, for two or more scores, the sample standard deviation, with this many
    decimals: `37.46 ± 1.82`. The tables of the documentation have one decimal.
    """
    if not scores:
        return "none"
    mean = f"{statistics.mean(scores):.{digits}f}"
    if len(scores) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(scores):.{digits}f}"


def table(scores: Scores, metric: str) -> str:
    """Returns a table in Markdown with a row for each configuration; `metric` heads the scores."""
    rows = [f"| configuration | {metric}, mean ± sd | of each seed |\n", "| --- | --- | --- |\n"]
    for name, values in scores.items():
        of_each_seed = ", ".join(f"{value:.2f}" for value in values)
        rows.append(f"| {name} | {summary(values)} | {of_each_seed} |\n")
    return "".join(rows)
