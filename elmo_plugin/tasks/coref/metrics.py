"""The score of CoNLL-2012 as a metric: the mean of MUC, B-cubed and CEAF-e."""

from collections.abc import Hashable, Iterable

from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.coref.scoring import CorefScores
from elmo_plugin.tasks.counting import ScoreMetric


@Metric.register("coref_conll")
class CorefConll(ScoreMetric):
    """
    Precision, recall and F1 of clusters of mentions, as the reference scorer of CoNLL-2012 counts them, over
    all processes.

    Registered as a `Metric` with name "coref_conll".
    """

    scores_class = CorefScores

    def __call__(  # type: ignore[override]
        self,
        predicted_clusters: Iterable[Iterable[Hashable]],
        gold_clusters: Iterable[Iterable[Hashable]],
    ) -> None:
        """
        Counts one document.

        # Parameters

        predicted_clusters : `Iterable[Iterable[Hashable]]`
            The mentions of each cluster that a system found; lists of two numbers may stand for tuples.
        gold_clusters : `Iterable[Iterable[Hashable]]`
            Those that are right.
        """
        self._scores.add(gold_clusters, predicted_clusters)

    @overrides(check_signature=False)
    def figures(self, scores: CorefScores) -> dict[str, float]:
        """
        Returns `precision`, `recall` and `f1`, from 0 to 1, each after `coref_`, which is the mean of the
        next three, `muc_`, `bcub_`, `ceafe_`, and `mention_`, as in `coref_f1`.
        """
        groups = {"coref": scores.average()}
        groups |= {name: counts.figures() for name, counts in scores.counts().items()}
        return {
            f"{group}_{figure}": value
            for group, values in groups.items()
            for figure, value in zip(("precision", "recall", "f1"), values, strict=True)
        }
