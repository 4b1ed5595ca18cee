"""The scores of several trainings of each configuration, as a table and as JSON."""

import logging
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.sweeps.trainings import PROVENANCE_NAME, Outcome, Training

logger = logging.getLogger(__name__)

Scores = dict[str, list[float]]  # the score of each seed, by configuration
_BEST = "best_validation_"  # before AllenNLP's names for the scores of the best epoch


class Metric(NamedTuple):
    """
    A metric at the best epoch, on the validation or the test data. Its name is AllenNLP's, without
    `validation_`, but with `test_`. If higher is better, the metric is in [0, 1] and scores are in
    per cent.
    """

    name: str
    higher_is_better: bool

    @classmethod
    def parse(cls, text: Any) -> "Metric":
        """Reads the form of a trainer's `validation_metric`, such as `"+accuracy"` or `"-loss"`."""
        if not isinstance(text, str) or text[:1] not in ("+", "-") or len(text) < 2:
            raise ConfigurationError(
                f"metric: expected + or - at its start, such as +accuracy, got {text!r}"
            )
        return cls(text[1:], higher_is_better=text[0] == "+")

    def score(self, metrics: Mapping[str, Any], place: str = "") -> float:
        """
        Reads the score from a training's metrics. Raises `ConfigurationError` if it is not there,
        or is not a number.
        """
        key = self.name if self.name.startswith("test_") else _BEST + self.name
        if key not in metrics:
            scores = [name for name in metrics if name.startswith((_BEST, "test_"))]
            known = ", ".join(name.removeprefix(_BEST) for name in scores)
            raise ConfigurationError(f"{place}unknown metric {self.name}: expected one of {known}")
        value = metrics[key]
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ConfigurationError(
                f"{place}metric {self.name}: expected a number, got {value!r:.40}"
            )
        return round(100 * value, 2) if self.higher_is_better else round(value, 4)

    def __str__(self) -> str:
        return f"{self.name} (%)" if self.higher_is_better else f"{self.name} (lower is better)"


def find_metric(trainings: Sequence[Training], text: str | None = None) -> Metric:
    """
    Returns a metric of all trainings, by default their own. Raises `ConfigurationError` if they
    have several, or are not evaluated on the test data that it is of.
    """
    own = {}
    for training in trainings:
        trainer = training.config.get("trainer", {})
        own[training.name] = trainer.get("validation_metric", "-loss")
    distinct = {str(metric) for metric in own.values()}
    if not text and len(distinct) > 1:
        differing = ", ".join(f"{metric} of {name}" for name, metric in own.items())
        raise ConfigurationError(
            f"give one --metric for all configurations; their own are {differing}"
        )
    metric = Metric.parse(text or next(iter(own.values())))
    if metric.name.startswith("test_"):
        for training in trainings:
            _check_evaluated_on_test(training)
    return metric


def _check_evaluated_on_test(training: Training) -> None:
    config = training.config
    if not config.get("test_data_path") or not config.get("evaluate_on_test"):
        raise ConfigurationError(
            f"--metric is of the test data, on which {training.name} is not evaluated; give it "
            "test_data_path, and evaluate_on_test: true"
        )


def judge(
    trainings: Sequence[Training], outcomes: Iterable[Outcome], metric: Metric
) -> tuple[Scores, list[str]]:
    """Returns the scores of each configuration, and a sentence for each training that failed."""
    scores: Scores = {training.name: [] for training in trainings}
    failures = []
    for training, outcome in zip(trainings, outcomes, strict=True):
        score = math.nan
        if outcome.metrics is not None:
            score = metric.score(outcome.metrics, f"{training.folder}: ")
        if math.isfinite(score):
            scores[training.name].append(score)
            continue
        why = outcome.failure or f"its {metric.name} is {score}"
        logger.error("%s failed: %s", training, outcome.details or why)
        failures.append(f"{training} failed: {why}")
    return scores, failures


def results(trainings: Sequence[Training], scores: Scores, command: str) -> dict[str, Any]:
    """
    Returns the scores of configurations without failures, with the command and their provenance.
    """
    found = {}
    for name, values in scores.items():
        folders = [training.folder for training in trainings if training.name == name]
        if len(values) == len(folders):
            found[name] = {"scores": values, "command": command, **_joined_provenance(folders)}
    return found


def _joined_provenance(folders: Sequence[Path]) -> dict[str, str]:
    """Returns the provenance of several trainings; different values are listed."""
    values: dict[str, set[str]] = {}
    records = []
    for folder in folders:
        file = folder / PROVENANCE_NAME
        if file.is_file():
            records.append(read_json_object(file, str(file)))
    for record in records:
        for key in record:
            values[key] = {str(other.get(key, "")) for other in records}
    return {key: "; ".join(sorted(distinct)) for key, distinct in values.items()}


def summary(scores: Sequence[float], digits: int = 2) -> str:
    """
    Formats the mean and, for two or more scores, the sample standard deviation: `37.46 ± 1.82`.
    """
    if not scores:
        return "none"
    mean = f"{statistics.mean(scores):.{digits}f}"
    return mean if len(scores) == 1 else f"{mean} ± {statistics.stdev(scores):.{digits}f}"


def table(scores: Scores, metric: str) -> str:
    """Returns a table in Markdown with a row for each configuration."""
    rows = [f"| configuration | {metric}, mean ± sd | of each seed |\n", "| --- | --- | --- |\n"]
    for name, values in scores.items():
        of_each_seed = ", ".join(f"{value:.2f}" for value in values)
        rows.append(f"| {name} | {summary(values)} | {of_each_seed} |\n")
    return "".join(rows)
