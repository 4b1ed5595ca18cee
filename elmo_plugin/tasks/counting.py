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

_LEAST_WIDTH = 8  # of a column in a table of figures

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
    Returns precision, recall and F1 from the numbers of correct, predicted and gold items: from 0
    to `scale`, so 100 gives percentages. A figure whose denominator is 0 is 0.
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
        Returns a name for what the gold data lack, such as "entities", if F1 is 0 for that reason,
        or an empty string. Subclasses override it.
        """
        return ""

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `metrics` of the counts of all processes since the last reset. With `reset`, at the
        end of the data, it also warns if the gold data lack what F1 is about.
        """
        # `reset` assigns new counts, so a reset of the copy or of this metric leaves the other one
        # unchanged.
        over_all_processes = copy(self)
        if is_distributed():
            # A list of the right length; each entry is replaced by the counts of a process.
            gathered = [self.counts] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(gathered, self.counts)
            over_all_processes.reset()
            for counts in gathered:
                for name, counter in counts.items():
                    over_all_processes.counts[name].update(counter)
        if reset:
            self.reset()
            missing = over_all_processes.missing_gold()
            if missing:
                logger.warning("the data have no %s: precision, recall and F1 are 0", missing)
        return over_all_processes.metrics()


class SpanCounts(NamedTuple):
    """How many spans are in both the prediction and the gold data, and how many in each."""

    correct: int
    predicted: int
    gold: int


class SpanF1(CountingMetric):
    """
    The base of metrics of whole spans. `counts` has the numbers of "correct", "predicted" and
    "gold" spans of each label. Spans with the label `label_outside_totals` have figures as well,
    but are not counted in the overall ones.
    """

    label_outside_totals: ClassVar[str | None] = None

    def span_counts(self) -> dict[str, SpanCounts]:
        """
        Returns the counts of all spans under "overall", then the counts of each label, in
        alphabetical order, with `label_outside_totals` at the end.
        """
        correct = self.counts["correct"]
        predicted = self.counts["predicted"]
        gold = self.counts["gold"]
        labels = predicted.keys() | gold.keys()
        labels_in_totals = sorted(labels - {self.label_outside_totals})
        groups = {
            "overall": SpanCounts(
                sum(correct[label] for label in labels_in_totals),
                sum(predicted[label] for label in labels_in_totals),
                sum(gold[label] for label in labels_in_totals),
            )
        }
        ordered_labels = labels_in_totals
        if self.label_outside_totals is not None and self.label_outside_totals in labels:
            ordered_labels = [*labels_in_totals, self.label_outside_totals]
        for label in ordered_labels:
            groups[label] = SpanCounts(correct[label], predicted[label], gold[label])
        return groups

    def figures(self, scale: float = 1.0) -> dict[str, Figures]:
        """Returns precision, recall and F1, from 0 to `scale`, overall and of each label."""
        return {
            label: precision_recall_f1(counts.correct, counts.predicted, counts.gold, scale)
            for label, counts in self.span_counts().items()
        }

    @overrides
    def metrics(self) -> dict[str, float]:
        """
        Returns the figures, from 0 to 1, by names such as `f1-measure-PER` and
        `recall-overall`, as AllenNLP's metrics of spans do.
        """
        named = {}
        for label, figures in self.figures().items():
            named[f"precision-{label}"] = figures.precision
            named[f"recall-{label}"] = figures.recall
            named[f"f1-measure-{label}"] = figures.f1
        return named


def figures_table(figures: Mapping[str, Any]) -> list[str]:
    """
    Returns the figures of a scorer as lines to print: a table with a row for each group of figures
    (a mapping), then a line for each single figure.
    """
    groups = {name: values for name, values in figures.items() if isinstance(values, Mapping)}
    lines = []
    if groups:
        first_group, *_ = groups.values()
        columns = list(first_group)  # all groups have the same figures
        width_of_names = max(len(name) for name in groups)
        header = {column: column for column in columns}  # a row whose cells are the column names
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
    """Returns the name of a group and its figures, aligned with the column names in the header."""
    cells = [name.ljust(width_of_names)]
    for column in columns:
        width = max(len(column), _LEAST_WIDTH)
        cells.append(_shown(row[column]).rjust(width))
    return "  ".join(cells)


def _shown(value: Any) -> str:
    """Formats a cell: floats with two decimals, counts and column names as they are."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)
