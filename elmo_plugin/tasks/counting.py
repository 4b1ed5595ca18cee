"""The base of the tasks' metrics, which adds up the counts of all processes; precision, recall and
F1; the table of figures that `elmo score` prints.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple

import torch
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.common.logs import get_logger

logger = get_logger(__name__)


class Figures(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float

    def rounded(self) -> dict[str, float]:
        """Returns the figures by their names, with two decimals, as scorers print them."""
        return {name: round(figure, 2) for name, figure in self._asdict().items()}


def precision_recall_f1(
    correct: float, predicted: float, gold: float, scale: float = 1.0
) -> Figures:
    """
    Returns fractions (`scale` 1) or percentages (100) from numbers of items; 0 for a denominator of
    0.
    """
    precision = ratio(scale * correct, predicted)
    recall = ratio(scale * correct, gold)
    return Figures(precision, recall, harmonic_mean(precision, recall))


def ratio(numerator: float, denominator: float) -> float:
    """Divides; returns 0 if the denominator is 0, as scorers do."""
    if denominator == 0:
        return 0.0
    return numerator / denominator


def harmonic_mean(precision: float, recall: float) -> float:
    """Returns F1, the harmonic mean of precision and recall; 0 if both are 0."""
    return ratio(2 * precision * recall, precision + recall)


class CountingMetric(Metric):
    """
    The base of metrics of counts, shared with the scorer of files. A subclass has a `__call__`
    that adds examples to `self.counts`, and `metrics`, the figures of the counts by their names.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self.reset()

    @overrides
    def reset(self) -> None:
        self.counts: dict[str, Any] = defaultdict(Counter)

    def metrics(self) -> dict[str, float]:
        """Returns the values of the metric by their names."""
        raise NotImplementedError

    def missing_gold(self) -> str:
        """
        Returns what the gold data should have and do not, such as "entities", so that F1 is 0; else
        an empty string.
        """
        return ""

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns the `metrics` of the counts of all processes since the last reset."""
        whole = copy(self)  # it keeps the counts when `reset` gives this metric new ones
        if is_distributed():
            # A list of the right length; each entry is replaced by the counts of a process.
            gathered = [self.counts] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(gathered, self.counts)
            whole.reset()
            for counts in gathered:
                for name, counter in counts.items():
                    whole.counts[name].update(counter)
        if reset:
            self.reset()
            missing = whole.missing_gold()
            if missing:
                logger.warning("the data have no %s: precision, recall and F1 are 0", missing)
        return whole.metrics()


class SpanCounts(NamedTuple):
    """How many spans are in both the prediction and the gold data, and how many in each."""

    correct: int
    predicted: int
    gold: int


class SpanF1(CountingMetric):
    """
    The base of metrics of whole spans: `counts` has the "correct", "predicted" and "gold" ones of
    each label. The label `apart` is counted by itself and left out of the totals.
    """

    apart: ClassVar[str | None] = None

    def numbers(self) -> dict[str, SpanCounts]:
        """Returns the counts of "overall" and of each label in order, `apart` at the end."""
        correct = self.counts["correct"]
        predicted = self.counts["predicted"]
        gold = self.counts["gold"]
        labels = predicted.keys() | gold.keys()
        totals = sorted(labels - {self.apart})
        groups = {
            "overall": SpanCounts(
                sum(correct[label] for label in totals),
                sum(predicted[label] for label in totals),
                sum(gold[label] for label in totals),
            )
        }
        for label in totals:
            groups[label] = SpanCounts(correct[label], predicted[label], gold[label])
        if self.apart is not None and self.apart in labels:
            label = self.apart
            groups[label] = SpanCounts(correct[label], predicted[label], gold[label])
        return groups

    def figures(self, scale: float = 1.0) -> dict[str, Figures]:
        """Returns the figures of `numbers`."""
        return {
            name: precision_recall_f1(counts.correct, counts.predicted, counts.gold, scale)
            for name, counts in self.numbers().items()
        }

    @overrides
    def metrics(self) -> dict[str, float]:
        """
        Returns the figures, from 0 to 1, by names such as `f1-measure-PER`, as AllenNLP has them.
        """
        named = {}
        for label, figures in self.figures().items():
            named[f"precision-{label}"] = figures.precision
            named[f"recall-{label}"] = figures.recall
            named[f"f1-measure-{label}"] = figures.f1
        return named


def figures_table(figures: Mapping[str, Any]) -> list[str]:
    """
    Returns the figures of a scorer as lines to print: a row for each group, then the numbers that
    belong to no group.
    """
    groups = {name: values for name, values in figures.items() if isinstance(values, Mapping)}
    lines = []
    if groups:
        first_group, *_ = groups.values()
        columns = list(first_group)  # all groups have the same figures
        width_of_names = max(len(name) for name in groups)
        header = {column: column for column in columns}
        lines.append(_table_row("", header, columns, width_of_names))
        for name, row in groups.items():
            lines.append(_table_row(name, row, columns, width_of_names))
    for name, value in figures.items():
        if name not in groups:
            lines.append(f"{name}  {_shown(value)}")
    return lines


def _table_row(
    name: str, row: Mapping[str, Any], columns: Sequence[str], width_of_names: int
) -> str:
    """Returns the name of a group and its figures, below the names of the columns."""
    cells = [name.ljust(width_of_names)]
    for column in columns:
        width = max(len(column), 8)
        cells.append(_shown(row[column]).rjust(width))
    return "  ".join(cells)


def _shown(value: Any) -> str:
    """Returns a figure with two decimals, and any other value unchanged, as text."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)
