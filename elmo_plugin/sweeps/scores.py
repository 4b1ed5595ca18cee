"""The scores of several trainings of each configuration, as a table and as JSON."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.logs import get_logger
from elmo_plugin.sweeps.trainings import PROVENANCE_NAME, Outcome, Training

logger = get_logger(__name__)

Scores = dict[str, list[float]]  # for each configuration, a score of each seed
# How AllenNLP names the scores in `metrics.json`: those of the best epoch on the validation data,
# and those on the test data.
_BEST = "best_validation_"
_TEST = "test_"
_DEFAULT_METRIC = "-loss"  # of AllenNLP's trainer


class Metric(NamedTuple):
    """
    A metric at the best epoch. The name `accuracy` means the accuracy on the validation data, in
    AllenNLP's files `best_validation_accuracy`, and `test_accuracy` is on the test data.

    Scores are given in per cent if higher is better, because such metrics, as accuracy and F1, are
    between 0 and 1.
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

    @property
    def is_of_test_data(self) -> bool:
        """Whether the metric is computed on the test data."""
        return self.name.startswith(_TEST)

    def score(self, metrics: Mapping[str, Any], prefix: str = "") -> float:
        """
        Returns the rounded score in a training's metrics. Raises `ConfigurationError` if the
        metrics do not contain it, or if it is not a number. The message begins with `prefix`, such
        as the folder of the training and a colon.
        """
        if self.is_of_test_data:
            key = self.name
        else:
            key = _BEST + self.name
        if key not in metrics:
            scores = [name for name in metrics if name.startswith((_BEST, _TEST))]
            known = ", ".join(name.removeprefix(_BEST) for name in scores)
            raise ConfigurationError(f"{prefix}unknown metric {self.name}: expected one of {known}")
        value = metrics[key]
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ConfigurationError(
                f"{prefix}metric {self.name}: expected a number, got {value!r:.40}"
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
    Returns the metric by which trainings are compared: the one in `text`, or without a text the
    validation metric of their trainers.

    Raises `ConfigurationError` if the trainers have different metrics, or if the metric is computed
    on the test data, but one of the trainings does not evaluate its model on them.
    """
    if text:
        metric = Metric.parse(text)
    else:
        metric = Metric.parse(_common_validation_metric(trainings))
    if metric.is_of_test_data:
        for training in trainings:
            _check_evaluated_on_test(training)
    return metric


def _common_validation_metric(trainings: Sequence[Training]) -> object:
    """
    Returns the value of `validation_metric` that all configurations share. Without this field a
    configuration has AllenNLP's default. Raises `ConfigurationError` if the values differ.
    """
    metric_by_config = {}
    for training in trainings:
        trainer = training.config.get("trainer", {})
        metric_by_config[training.name] = trainer.get("validation_metric", _DEFAULT_METRIC)
    metrics = list(metric_by_config.values())
    if any(metric != metrics[0] for metric in metrics):
        differing = ", ".join(f"{metric} of {name}" for name, metric in metric_by_config.items())
        raise ConfigurationError(
            f"give one --metric for all configurations; their own are {differing}"
        )
    return metrics[0]


def _check_evaluated_on_test(training: Training) -> None:
    """Raises `ConfigurationError` if a training does not evaluate its model on test data."""
    config = training.config
    if not config.get("test_data_path") or not config.get("evaluate_on_test"):
        raise ConfigurationError(
            f"--metric is of the test data, on which {training.name} is not evaluated; give it "
            "test_data_path, and evaluate_on_test: true"
        )


def collect_scores(
    trainings: Sequence[Training], outcomes: Iterable[Outcome], metric: Metric
) -> tuple[Scores, list[str]]:
    """
    Returns the scores of each configuration, and a sentence for each training that failed. Logs
    these sentences, with the tracebacks, when the outcomes arrive.
    """
    scores: Scores = {training.name: [] for training in trainings}
    failures = []
    for training, outcome in zip(trainings, outcomes, strict=True):
        failure = outcome.failure
        if outcome.metrics is not None:
            score = metric.score(outcome.metrics, prefix=f"{training.folder}: ")
            if math.isfinite(score):
                scores[training.name].append(score)
            else:
                failure = f"its {metric.name} is {score}"
        if failure:
            failures.append(f"{training} failed: {failure}")
            logger.error("%s failed: %s", training, failure)
            for line in outcome.details.splitlines():
                logger.error("%s", line)
    return scores, failures


def results_for_json(trainings: Sequence[Training], scores: Scores, command: str) -> dict[str, Any]:
    """
    Returns what `--json` writes: for each configuration its scores, the command that made them, and
    the provenance of its trainings. A configuration is left out if one of its trainings failed.
    """
    results = {}
    for name, scores_of_config in scores.items():
        folders = [training.folder for training in trainings if training.name == name]
        all_succeeded = len(scores_of_config) == len(folders)
        if all_succeeded:
            result: dict[str, Any] = {"scores": scores_of_config, "command": command}
            results[name] = result | _joined_provenance(folders)
    return results


def _joined_provenance(folders: Sequence[Path]) -> dict[str, str]:
    """
    Returns the provenance of several trainings, such as their commit and machine, as one. Where
    their values differ, all are listed.
    """
    values_by_key: dict[str, set[str]] = defaultdict(set)
    for folder in folders:
        file = folder / PROVENANCE_NAME
        if file.is_file():  # trainings that `elmo sweep` did not make are without it
            for key, value in read_json_object(file, str(file)).items():
                values_by_key[key].add(str(value))
    return {key: "; ".join(sorted(values)) for key, values in values_by_key.items()}


def summary(scores: Sequence[float], digits: int = 2) -> str:
    """
    Formats the mean and, for two or more scores, the sample standard deviation, such as
    `37.46 ± 1.82`. `digits` is the number of decimals.
    """
    if not scores:
        return "none"
    mean = f"{statistics.mean(scores):.{digits}f}"
    if len(scores) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(scores):.{digits}f}"


def markdown_table(scores: Scores, metric: str) -> str:
    """
    Returns a table in Markdown with a row for each configuration. `metric` is its name in the
    heading.
    """
    rows = [f"| configuration | {metric}, mean ± sd | of each seed |\n", "| --- | --- | --- |\n"]
    for name, scores_of_config in scores.items():
        score_of_each_seed = ", ".join(f"{score:.2f}" for score in scores_of_config)
        rows.append(f"| {name} | {summary(scores_of_config)} | {score_of_each_seed} |\n")
    return "".join(rows)
