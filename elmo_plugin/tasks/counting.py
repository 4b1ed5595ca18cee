"""The base of the tasks' metrics, counts of all processes; precision, recall and F1, and lines to
print.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple

import torch
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric
from overrides import overrides

logger = logging.getLogger(__name__)


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
    precision = scale * correct / predicted if predicted else 0.0
    recall = scale * correct / gold if gold else 0.0
    return Figures(precision, recall, harmonic_mean(precision, recall))


def harmonic_mean(precision: float, recall: float) -> float:
    """Returns F1, the harmonic mean of precision and recall; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


class CountingMetric(Metric):
    """
    The base of metrics of counts, which the scorer of files shares. A subclass has a `__call__`
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
        Returns the name of items of which the gold data contain none, so that F1 is 0, or "".
        """
        return ""

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns the `metrics` of the counts of all processes since the last reset."""
        whole = copy(self)
        if is_distributed():
            gathered = [self.counts] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(gathered, self.counts)
            whole.reset()
            for counts in gathered:
                for name, counter in counts.items():
                    whole.counts[name].update(counter)
        if reset:
            self.reset()
            if missing := whole.missing_gold():
                logger.warning("the data have no %s: precision, recall and F1 are 0", missing)
        return whole.metrics()


class SpanF1(CountingMetric):
    """
    The base of metrics of whole spans: `counts` has the "correct", "predicted" and "gold" ones of
    each label. The label `apart` is counted by itself and left out of the totals.
    """

    apart: ClassVar[str | None] = None

    def numbers(self) -> dict[str, tuple[int, ...]]:
        """
        Returns how many are correct, predicted and gold, "overall" and of each label, `apart` the
        last.
        """
        counters = [self.counts[name] for name in ("correct", "predicted", "gold")]
        labels = sorted(
            counters[1].keys() | counters[2].keys(), key=lambda each: (each == self.apart, each)
        )
        groups = {label: tuple(counter[label] for counter in counters) for label in labels}
        counted = [numbers for label, numbers in groups.items() if label != self.apart]
        return {"overall": tuple(map(sum, zip((0, 0, 0), *counted, strict=False))), **groups}

    def figures(self, scale: float = 1.0) -> dict[str, Figures]:
        """Returns the figures of `numbers`."""
        return {
            name: precision_recall_f1(correct, predicted, gold, scale)
            for name, (correct, predicted, gold) in self.numbers().items()
        }

    @overrides
    def metrics(self) -> dict[str, float]:
        """
        Returns the figures, from 0 to 1, by names such as `f1-measure-PER`, as AllenNLP has them.
        """
        return {
            f"{name}-{label}": figure
            for label, figures in self.figures().items()
            for name, figure in zip(("precision", "recall", "f1-measure"), figures, strict=True)
        }


def figures_table(figures: Mapping[str, Any]) -> list[str]:
    """
    Returns the figures of a scorer as lines to print: a row for each group, then numbers of the
    whole.
    """
    groups = {name: values for name, values in figures.items() if isinstance(values, Mapping)}
    lines = []
    if groups:
        columns = list(next(iter(groups.values())))
        widths = [max(len(column), 8) for column in columns]
        widest = max(map(len, groups))
        for name, row in {"": dict(zip(columns, columns, strict=True)), **groups}.items():
            cells = [
                f"{_shown(row[each]):>{width}}" for each, width in zip(columns, widths, strict=True)
            ]
            lines.append("  ".join([f"{name:{widest}}", *cells]))
    return lines + [
        f"{name}  {_shown(value)}" for name, value in figures.items() if name not in groups
    ]


def _shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
