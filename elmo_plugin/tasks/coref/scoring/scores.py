"""MUC, B-cubed, CEAF-e and mentions, counted as the reference scorer of CoNLL-2012 counts them (v8.01)."""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from elmo_plugin.tasks.counting import Scores, harmonic_mean

METRICS = ("muc", "bcub", "ceafe")  # of which the score of CoNLL-2012 is the mean
Cluster = list[Hashable]  # its mentions, one of which may be there twice


class Counts(NamedTuple):
    """The fractions that recall and precision are: what is right, out of the key and out of the response."""

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
        How many were added.
    repeated : `int`
        How many predicted mentions were left out, because they are right and there already.
    """

    def __init__(self) -> None:
        self.documents = 0
        self.repeated = 0
        self._sums = np.zeros((len(COUNTED), len(Counts._fields)))

    def add(self, gold: Iterable[Iterable[Hashable]], predicted: Iterable[Iterable[Hashable]]) -> None:
        """
        Counts the clusters of one document. Mentions that are there twice are treated as by the reference
        scorer: of those that are predicted and right, only the first is kept; all others count as often as
        they are there, but once as mentions.

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

    def counts(self) -> dict[str, Counts]:
        """Returns the counts of "muc", "bcub", "ceafe" and "mention"."""
        return {name: Counts(*row) for name, row in zip(COUNTED, self._sums.tolist(), strict=True)}

    def average(self) -> tuple[float, float, float]:
        """Returns the means of precision, recall and F1 of MUC, B-cubed and CEAF-e."""
        counts = self.counts()
        figures = [counts[name].figures() for name in METRICS]
        precision, recall, f1 = (sum(values) / len(METRICS) for values in zip(*figures, strict=True))
        return precision, recall, f1


def _without_empty(clusters: Iterable[Iterable[Hashable]]) -> list[Cluster]:
    """Returns clusters that have mentions; these are hashable."""
    lists = [[tuple(m) if isinstance(m, list) else m for m in cluster] for cluster in clusters]
    return [cluster for cluster in lists if cluster]


def _without_repeated(predicted: Sequence[Cluster], right: set[Hashable]) -> list[Cluster]:
    """Returns predicted clusters in which no mention that is right is there twice."""
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


def muc(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> Counts:
    """
    Counts links, of which a cluster has one less than mentions. Those are right that remain where it is cut
    into the pieces that the clusters of the other side make of it.
    """
    place = _place_of_mentions(gold)
    correct = 0
    for cluster in predicted:
        places = [place[mention] for mention in cluster if mention in place]
        correct += len(places) - len(set(places))
    links_in_gold, links_found = (sum(len(each) - 1 for each in side) for side in (gold, predicted))
    return Counts(correct, links_in_gold, correct, links_found)


def b_cubed(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> Counts:
    """
    Sums, over the mentions, the part of its cluster that its other cluster shares; one mention at a time as
    the scorer does, so that the last digits are the same.
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
    return Counts(recall, sum(map(len, gold)), precision, sum(map(len, predicted)))


def ceaf_e(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> Counts:
    """Counts the similarity of clusters (phi 4), each of which has one partner, or none, that is the best."""
    place = _place_of_mentions(predicted)
    common = np.zeros((len(gold), len(predicted)))
    for row, cluster in enumerate(gold):
        for mention in cluster:
            if mention in place:
                common[row, place[mention]] += 1
    sizes = np.add.outer([len(cluster) for cluster in gold], [len(cluster) for cluster in predicted])
    similarity = 2 * common / sizes
    best = float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())
    return Counts(best, len(gold), best, len(predicted))


def mention_counts(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> Counts:
    """Counts mentions, each of them once, that are in both, whatever their clusters are."""
    right, found = ({mention for cluster in side for mention in cluster} for side in (gold, predicted))
    return Counts(len(right & found), len(right), len(right & found), len(found))


def _place_of_mentions(clusters: Sequence[Cluster]) -> dict[Hashable, int]:
    """Returns the index of the cluster of each mention, of the last one where it is in several."""
    return {mention: index for index, cluster in enumerate(clusters) for mention in cluster}


COUNTED = {"muc": muc, "bcub": b_cubed, "ceafe": ceaf_e, "mention": mention_counts}
"""How each of the counts is made from the right clusters and those of a system."""
