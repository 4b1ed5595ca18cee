"""The base of the tasks' metrics, which adds up the counts of all processes; precision, recall and
F1.
"""

from collections import Counter, defaultdict
from copy import copy
from typing import Any, ClassVar, NamedTuple

import torch
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.common.label_names import beside_names
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
    Returns precision, recall and F1 from the numbers of correct, predicted and gold items. Figures
    are from 0 to `scale`; with a scale of 100 they are percentages. A figure whose denominator is 0
    is 0.
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
        Returns a noun, such as "entities", if the gold data have none of these, so that F1 can only
        be 0. Otherwise returns an empty string. Subclasses override this method.
        """
        return ""

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `metrics` of the counts of all processes since the last reset. AllenNLP sets `reset`
        at the end of the data. The metric then also warns if F1 is 0 because of the gold data, see
        `missing_gold`.
        """
        over_all_processes = copy(self)  # the same metric, with the counts of all processes
        over_all_processes.counts = self._counts_of_all_processes()
        if reset:
            self.reset()  # assigns new counts, so the copy keeps the old ones
            missing = over_all_processes.missing_gold()
            if missing:
                logger.warning("the data have no %s: precision, recall and F1 are 0", missing)
        return over_all_processes.metrics()

    def _counts_of_all_processes(self) -> dict[str, Any]:
        """Returns the counts of this process or, in distributed training, of all processes."""
        if not is_distributed():
            return self.counts
        gathered: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(gathered, self.counts)
        total: dict[str, Any] = defaultdict(Counter)
        for counts_of_process in gathered:
            for name, counter in counts_of_process.items():
                total[name].update(counter)
        return total


class SpanCounts(NamedTuple):
    """How many spans are in both the prediction and the gold data, and how many in each."""

    correct: int
    predicted: int
    gold: int

    def figures(self, scale: float = 1.0) -> Figures:
        """Returns precision, recall and F1, from 0 to `scale`."""
        return precision_recall_f1(self.correct, self.predicted, self.gold, scale)


class SpanF1(CountingMetric):
    """
    The base of metrics of whole spans. `counts` has the numbers of "correct", "predicted" and
    "gold" spans of each label. Spans with the label `label_outside_totals` have figures of their
    own as well, but are not counted in the overall figures.
    """

    label_outside_totals: ClassVar[str | None] = None

    def overall_counts(self) -> SpanCounts:
        """Returns the total counts of all labels except `label_outside_totals`."""
        labels = self._labels_in_totals()
        return SpanCounts(
            sum(self.counts["correct"][label] for label in labels),
            sum(self.counts["predicted"][label] for label in labels),
            sum(self.counts["gold"][label] for label in labels),
        )

    def label_counts(self) -> dict[str, SpanCounts]:
        """
        Returns the counts of each label, in alphabetical order. The label `label_outside_totals`
        comes last.
        """
        labels = self._labels_in_totals()
        outside_totals = self.label_outside_totals
        if outside_totals is not None and outside_totals in self._all_labels():
            labels.append(outside_totals)
        counts = {}
        for label in labels:
            counts[label] = SpanCounts(
                self.counts["correct"][label],
                self.counts["predicted"][label],
                self.counts["gold"][label],
            )
        return counts

    def _all_labels(self) -> set[str]:
        return self.counts["predicted"].keys() | self.counts["gold"].keys()

    def _labels_in_totals(self) -> list[str]:
        return sorted(self._all_labels() - {self.label_outside_totals})

    @overrides
    def metrics(self) -> dict[str, float]:
        """
        Returns the figures, from 0 to 1, by names such as `f1-measure-PER` and `recall-overall`, as
        AllenNLP's metrics of spans do. The figures of a label "overall" are those of
        "label_overall", so that a training's `f1-measure-overall` is always that of all labels.
        """
        counts_by_name = {"overall": self.overall_counts()}
        counts_by_name.update(beside_names(["overall"], self.label_counts()))
        named = {}
        for name, counts in counts_by_name.items():
            figures = counts.figures()
            named[f"precision-{name}"] = figures.precision
            named[f"recall-{name}"] = figures.recall
            named[f"f1-measure-{name}"] = figures.f1
        return named
