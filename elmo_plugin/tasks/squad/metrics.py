"""Exact match and F1 as a metric."""

from collections.abc import Iterable

from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import of_all_processes
from elmo_plugin.tasks.squad.scores import SquadScores


@Metric.register("squad_em_and_f1")
class SquadEmAndF1(Metric):
    """
    Exact match and F1 of answers, as the official script of SQuAD 1.1 computes them, over all processes.

    Registered as a `Metric` with name "squad_em_and_f1".
    """

    supports_distributed = True

    def __init__(self) -> None:
        self._scores = SquadScores()

    def __call__(self, predicted: str, right: Iterable[str]) -> None:  # type: ignore[override]
        """Counts the answer to one question, of which `right` are those of people."""
        self._scores.add(predicted, right)

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns `em` and `f1`, from 0 to 1."""
        figures = of_all_processes(self._scores).figures()
        if reset:
            self.reset()
        return {"em": figures["exact_match"] / 100, "f1": figures["f1"] / 100}

    @overrides
    def reset(self) -> None:
        self._scores = SquadScores()
