"""MUC, B-cubed, CEAF-e and mentions, counted as the reference scorer of CoNLL-2012 counts them (v8.01)."""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from allennlp.training.metrics import Metric
from overrides import overrides
from scipy.optimize import linear_sum_assignment

from elmo_plugin.tasks.counting import ScoreMetric, Scores, harmonic_mean

METRICS = ("muc", "bcub", "ceafe")  # of which the score of CoNLL-2012 is the mean
Cluster = list[Hashable]  # its mentions, in which one may occur twice


class CorefCounts(NamedTuple):
    """The numerators and denominators of recall, over the key, and of precision, over the response."""

    recall_numerator: float = 0.0
    recall_denominator: float = 0.0
    precision_numerator: float = 0.0
    precision_denominator: float = 0.0

    def figures(self) -> tuple[float, float, float]:
        """Returns precision, recall and F1, from 0 to 1; 0 where there is nothing."""
        in_gold, gold, in_predicted, predicted = self
        recall = in_gold / gold if gold else 0.0
        precision = in_predicted / predicted if predicted else 0.0
        return precision, recall, harmonic_mean(precision, recall)


class CorefScores(Scores):
    """
    Counts the clusters of documents, the sums over which make the figures.

    # Attributes

    documents : `int`
        The number of documents.
    repeated : `int`
        The number of predicted mentions that were left out because they are right and were predicted before.
    """

    def __init__(self) -> None:
        self.documents = 0
        self.repeated = 0
        self._sums = np.zeros((len(COUNTED), len(CorefCounts._fields)))

    def add(self, gold: Iterable[Iterable[Hashable]], predicted: Iterable[Iterable[Hashable]]) -> None:
        """
        Adds the clusters of one document. Repeated mentions are treated as in the reference scorer: a mention
        that is predicted and right is kept only where it occurs first; any other counts each time it occurs,
        but once as a mention.

        # Parameters

        gold : `Iterable[Iterable[Hashable]]`
            The mentions of each cluster that is right; lists of two numbers may stand for tuples.
        predicted : `Iterable[Iterable[Hashable]]`
            Those that a system found.
        """
        right, found = _without_empty(gold), _without_empty(predicted)
        mentions = {mention for cluster in right for mention in cluster}
        unique = _without_repeated(found, mentions)
        self.repeated += sum(map(len, found)) - sum(map(len, unique))
        self.documents += 1
        self._sums += [count(right, unique) for count in COUNTED.values()]

    def counts(self) -> dict[str, CorefCounts]:
        """Returns the counts of "muc", "bcub", "ceafe" and "mention"."""
        return {name: CorefCounts(*row) for name, row in zip(COUNTED, self._sums.tolist(), strict=True)}

    def average(self) -> tuple[float, float, float]:
        """Returns the means of precision, recall and F1 of MUC, B-cubed and CEAF-e."""
        counts = self.counts()
        figures = [counts[name].figures() for name in METRICS]
        precision, recall, f1 = (sum(values) / len(METRICS) for values in zip(*figures, strict=True))
        return precision, recall, f1


def _without_empty(clusters: Iterable[Iterable[Hashable]]) -> list[Cluster]:
    """Returns the clusters that have mentions, as lists of hashable mentions."""
    lists = [[tuple(m) if isinstance(m, list) else m for m in cluster] for cluster in clusters]
    return [cluster for cluster in lists if cluster]


def _without_repeated(predicted: Sequence[Cluster], right: set[Hashable]) -> list[Cluster]:
    """Returns the predicted clusters, in which each right mention is kept only where it occurs first."""
    seen: set[Hashable] = set()
    kept: list[Cluster] = []
    for cluster in predicted:
        kept.append([])
        for mention in cluster:
            if mention not in seen:
                kept[-1].append(mention)
            if mention in right:
                seen.add(mention)
    return _without_empty(kept)


def muc(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """
    Counts links, of which a cluster has one fewer than mentions. The correct links are those that remain
    after the clusters of the other side have split the cluster into pieces.
    """
    place = _place_of_mentions(gold)
    correct = 0
    for cluster in predicted:
        places = [place[mention] for mention in cluster if mention in place]
        correct += len(places) - len(set(places))
    links_in_gold, links_found = (sum(len(each) - 1 for each in side) for side in (gold, predicted))
    return CorefCounts(correct, links_in_gold, correct, links_found)


def b_cubed(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """
    Sums, over all mentions, the fraction of the mention's cluster that its cluster on the other side shares.
    Mentions are added one at a time, as in the scorer, so that the last digits agree.
    """
    place = _place_of_mentions(gold)
    members = [set(cluster) for cluster in gold]
    recall = precision = 0.0
    for cluster in predicted:
        places = [place[mention] for mention in cluster if mention in place]
        common = {index: sum(mention in members[index] for mention in cluster) for index in set(places)}
        for index in places:
            recall += common[index] / len(gold[index])
            precision += common[index] / len(cluster)
    return CorefCounts(recall, sum(map(len, gold)), precision, sum(map(len, predicted)))


def ceaf_e(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """Sums the similarities (phi 4) of the clusters in their best one-to-one alignment."""
    place = _place_of_mentions(predicted)
    common = np.zeros((len(gold), len(predicted)))
    for row, cluster in enumerate(gold):
        for mention in cluster:
            if mention in place:
                common[row, place[mention]] += 1
    sizes = np.add.outer([len(cluster) for cluster in gold], [len(cluster) for cluster in predicted])
    similarity = 2 * common / sizes
    best = float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())
    return CorefCounts(best, len(gold), best, len(predicted))


def mention_counts(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """Counts distinct mentions, regardless of their clusters."""
    right, found = ({mention for cluster in side for mention in cluster} for side in (gold, predicted))
    return CorefCounts(len(right & found), len(right), len(right & found), len(found))


def _place_of_mentions(clusters: Sequence[Cluster]) -> dict[Hashable, int]:
    """Returns the index of the cluster of each mention, of the last one where it is in several."""
    return {mention: index for index, cluster in enumerate(clusters) for mention in cluster}


COUNTED = {"muc": muc, "bcub": b_cubed, "ceafe": ceaf_e, "mention": mention_counts}
"""How each of the counts is made from the right clusters and those of a system."""


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
