"""What the metrics of tasks share: counts of all processes, and precision, recall and F1 from counts."""

from typing import Any, Protocol, TypeVar

import torch
from allennlp.common.util import is_distributed


class Summable(Protocol):
    """Counts that begin with nothing."""

    def __init__(self) -> None: ...

    def update(self, other: Any) -> None:
        """Adds what another counted."""


Counts = TypeVar("Counts", bound=Summable)


def of_all_processes(counts: Counts) -> Counts:
    """Returns the sum of the counts of all processes. What is counted may differ between them."""
    if not is_distributed():
        return counts
    gathered = [counts] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, counts)
    total = type(counts)()
    for each in gathered:
        total.update(each)
    return total


def precision_recall_f1(
    correct: int, found: int, gold: int, whole: float = 1.0
) -> tuple[float, float, float]:
    """
    # Parameters

    correct : `int`
        How many of what a system found are right.
    found : `int`
        How many a system found.
    gold : `int`
        How many are right.
    whole : `float`, optional (default = `1.0`)
        What the results are parts of, 100 for percent.

    # Returns

    `tuple[float, float, float]`
        Precision, recall and F1, each 0 where there is nothing to divide by.
    """
    precision = whole * correct / found if found else 0.0
    recall = whole * correct / gold if gold else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
