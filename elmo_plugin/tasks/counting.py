"""What the metrics of tasks share: sums over all processes, and precision, recall and F1 from counts."""

from typing import Any, ClassVar

import torch
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric
from overrides import overrides


class Scores:
    """
    The base of the sums over examples that a metric is computed from. Every attribute is a number, an array
    or a `Counter`.
    """

    def update(self, other: "Scores") -> None:
        """Adds the sums of `other`."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class ScoreMetric(Metric):
    """
    The base of metrics that are computed from the `Scores` of all processes. A subclass has `scores_class`,
    a `__call__` that adds examples to `self._scores`, and `figures`.
    """

    supports_distributed = True
    scores_class: ClassVar[type[Scores]]

    def __init__(self) -> None:
        self._scores: Any = self.scores_class()

    def figures(self, scores: Any) -> dict[str, float]:
        """Returns the values of the metric by their names."""
        raise NotImplementedError

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns the `figures` of the scores of all processes since the last reset."""
        scores = self._scores
        if is_distributed():
            gathered = [scores] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(gathered, scores)
            scores = self.scores_class()
            for each in gathered:
                scores.update(each)
        if reset:
            self.reset()
        return self.figures(scores)

    @overrides
    def reset(self) -> None:
        self._scores = self.scores_class()


def precision_recall_f1(
    correct: float, found: float, gold: float, whole: float = 1.0
) -> tuple[float, float, float]:
    """
    # Parameters

    correct : `float`
        How many of the items that a system found are right.
    found : `float`
        How many items a system found.
    gold : `float`
        How many right items there are.
    whole : `float`, optional (default = `1.0`)
        The scale of the results, 100 for percent.

    # Returns

    `tuple[float, float, float]`
        Precision, recall and F1; each is 0 where its denominator is 0.
    """
    precision = whole * correct / found if found else 0.0
    recall = whole * correct / gold if gold else 0.0
    return precision, recall, harmonic_mean(precision, recall)


def harmonic_mean(precision: float, recall: float) -> float:
    """Returns F1, the harmonic mean of precision and recall; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
