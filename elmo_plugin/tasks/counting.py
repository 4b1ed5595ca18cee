"""The base of the tasks' counters: sums over all processes, and precision, recall and F1 from counts."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric
from overrides import overrides

logger = logging.getLogger(__name__)


class Scores:
    """
    The base of a task's counter: sums over examples, shared by the metric of training and the scorer of
    files. Every attribute is a number, an array or a `Counter`.
    """

    def update(self, scores: "Scores") -> None:
        """Adds the sums of `scores`."""
        for name, value in vars(scores).items():
            setattr(self, name, getattr(self, name) + value)


class ScoreMetric(Metric):
    """
    The base of metrics that are computed from the `Scores` of all processes. A subclass has `scores_class`,
    a `__call__` that adds examples to `self._scores`, and `metrics`.
    """

    supports_distributed = True
    scores_class: ClassVar[type[Scores]]

    def __init__(self) -> None:
        self._scores: Any = self.scores_class()

    def metrics(self, scores: Any) -> dict[str, float]:
        """Returns the values of the metric by their names."""
        raise NotImplementedError

    def missing_gold(self, scores: Any) -> str:
        """Returns what the gold data have none of, so that F1 is 0, or an empty string."""
        return ""

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns the `metrics` of the scores of all processes since the last reset."""
        total = self._scores
        if is_distributed():
            gathered = [total] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(gathered, total)
            total = self.scores_class()
            for scores in gathered:
                total.update(scores)
        if reset:
            self.reset()
            if missing := self.missing_gold(total):
                logger.warning("the data have no %s: precision, recall and F1 are 0", missing)
        return self.metrics(total)

    @overrides
    def reset(self) -> None:
        self._scores = self.scores_class()


class Figures(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float

    def rounded(self) -> dict[str, float]:
        """Returns the figures by their names, with two decimals, as scorers print them."""
        return {name: round(figure, 2) for name, figure in self._asdict().items()}


def precision_recall_f1(correct: float, predicted: float, gold: float, scale: float = 1.0) -> Figures:
    """Returns fractions (`scale` 1) or percentages (100) from numbers of items; 0 for a denominator of 0."""
    precision = scale * correct / predicted if predicted else 0.0
    recall = scale * correct / gold if gold else 0.0
    return Figures(precision, recall, harmonic_mean(precision, recall))


def harmonic_mean(precision: float, recall: float) -> float:
    """Returns F1, the harmonic mean of precision and recall; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def figures_by_group(groups: Mapping[str, Figures]) -> dict[str, float]:
    """Returns the figures of each group by names such as `f1-measure-PER`, as AllenNLP has them."""
    return {
        f"{name}-{group}": figure
        for group, figures in groups.items()
        for name, figure in zip(("precision", "recall", "f1-measure"), figures, strict=True)
    }


def figures_table(figures: Mapping[str, Any]) -> list[str]:
    """Returns the figures of a scorer as lines to print: a row for each group, then numbers of the whole."""
    groups = {name: values for name, values in figures.items() if isinstance(values, Mapping)}
    lines = []
    if groups:
        columns = list(next(iter(groups.values())))
        widths = [max(len(column), 8) for column in columns]
        widest = max(map(len, groups))
        for name, row in {"": dict(zip(columns, columns, strict=True)), **groups}.items():
            cells = [f"{_shown(row[each]):>{width}}" for each, width in zip(columns, widths, strict=True)]
            lines.append("  ".join([f"{name:{widest}}", *cells]))
    return lines + [f"{name}  {_shown(value)}" for name, value in figures.items() if name not in groups]


def _shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
