"""MUC, B-cubed, CEAF-e and mentions, counted as the reference scorer of CoNLL-2012 counts them
(v8.01).
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.counting import CountingMetric, Figures, harmonic_mean, ratio

logger = get_logger(__name__)

METRICS = ("muc", "bcub", "ceafe")  # the score of CoNLL-2012 is their mean
MAX_REPEATED = 10
# The mentions of a cluster; a mention may be repeated.
Cluster = list[Hashable]
SIMILARITY_STEPS = 2**40  # of whole numbers, between 0 and 1


class CorefCounts(NamedTuple):
    """
    The numerators and denominators of recall, counted over the gold clusters (in the scorer's
    terms, the key), and of precision, over the predicted ones (the response).
    """

    recall_numerator: float = 0.0
    recall_denominator: float = 0.0
    precision_numerator: float = 0.0
    precision_denominator: float = 0.0

    def figures(self) -> Figures:
        """Returns precision, recall and F1, from 0 to 1; 0 if the denominator is 0."""
        recall = ratio(self.recall_numerator, self.recall_denominator)
        precision = ratio(self.precision_numerator, self.precision_denominator)
        return Figures(precision, recall, harmonic_mean(precision, recall))


def _without_empty(clusters: Iterable[Iterable[Hashable]]) -> list[Cluster]:
    """Returns the clusters that have mentions, as lists of hashable mentions."""
    kept = []
    for cluster in clusters:
        mentions = [_hashable(mention) for mention in cluster]
        if mentions:
            kept.append(mentions)
    return kept


def _hashable(mention: Any) -> Hashable:
    """Returns a mention in a form that sets can hold: a list, as in JSON, becomes a tuple."""
    if isinstance(mention, list):
        return tuple(mention)
    return cast(Hashable, mention)


def _without_repeated(predicted: Sequence[Cluster], correct: set[Hashable]) -> list[Cluster]:
    """
    Returns the predicted clusters with each correct mention only once, at its first place. Wrong
    mentions stay repeated, as in the reference scorer.
    """
    seen: set[Hashable] = set()  # only correct mentions
    clusters: list[Cluster] = []
    for cluster in predicted:
        kept = []
        for mention in cluster:
            if mention not in seen:
                kept.append(mention)
            if mention in correct:
                seen.add(mention)
        if kept:
            clusters.append(kept)
    return clusters


def muc(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """
    Counts links: a cluster has one fewer than mentions, and those within one cluster of the other
    side are correct. Recall and precision have the same correct links.
    """
    correct = 0
    for gold_indices in _indices_in(gold, predicted):
        # The mentions of a predicted cluster, less one for each gold cluster that they come from.
        correct += len(gold_indices) - len(set(gold_indices))
    gold_links = sum(len(cluster) - 1 for cluster in gold)
    predicted_links = sum(len(cluster) - 1 for cluster in predicted)
    return CorefCounts(correct, gold_links, correct, predicted_links)


def b_cubed(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """
    Compares the gold cluster and the predicted cluster of each mention. The mentions that both
    clusters have, as a fraction of the gold cluster, are summed for the recall, and as a fraction
    of the predicted cluster for the precision. Mentions are added one at a time, as in the scorer,
    so that the last digits agree.
    """
    gold_members = [set(cluster) for cluster in gold]
    recall = 0.0
    precision = 0.0
    for cluster, gold_indices in zip(predicted, _indices_in(gold, predicted), strict=True):
        # How many mentions this cluster shares with each gold cluster. It is no count of the
        # indices, because several gold clusters may have the same mention.
        common = {}
        for index in set(gold_indices):
            common[index] = sum(mention in gold_members[index] for mention in cluster)
        for index in gold_indices:
            recall += common[index] / len(gold[index])
            precision += common[index] / len(cluster)
    return CorefCounts(recall, _number_of_mentions(gold), precision, _number_of_mentions(predicted))


def ceaf_e(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """
    Sums the similarities of the clusters in their best one-to-one alignment. The similarity of two
    clusters is twice the number of their common mentions, divided by the mentions of both (phi 4).
    """
    import networkx  # here, because it takes a moment, and only scores need it

    alignments = networkx.Graph()
    # Each gold cluster comes with the predicted clusters of its mentions.
    for gold_index, predicted_indices in enumerate(_indices_in(predicted, gold)):
        for predicted_index, common in Counter(predicted_indices).items():
            similarity = 2 * common / (len(gold[gold_index]) + len(predicted[predicted_index]))
            alignments.add_edge(
                ("gold", gold_index),
                ("predicted", predicted_index),
                similarity=similarity,
                # networkx finds the best alignment exactly only if weights are whole numbers.
                weight=round(similarity * SIMILARITY_STEPS),
            )
    best_pairs = networkx.max_weight_matching(alignments)
    best = math.fsum(alignments.edges[pair]["similarity"] for pair in best_pairs)
    return CorefCounts(
        recall_numerator=best,
        recall_denominator=len(gold),
        precision_numerator=best,
        precision_denominator=len(predicted),
    )


def mention_counts(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """Counts distinct mentions, regardless of their clusters."""
    gold_mentions = set(chain.from_iterable(gold))
    predicted_mentions = set(chain.from_iterable(predicted))
    correct = len(gold_mentions & predicted_mentions)
    return CorefCounts(correct, len(gold_mentions), correct, len(predicted_mentions))


def _number_of_mentions(clusters: Iterable[Cluster]) -> int:
    """Counts mentions each time they occur."""
    return sum(len(cluster) for cluster in clusters)


def _indices_in(others: Sequence[Cluster], clusters: Sequence[Cluster]) -> list[list[int]]:
    """
    Looks up the mentions of clusters in the clusters of the other side. Returns, for each cluster,
    the index in `others` of each of its mentions, without those that `others` lack. If several have
    a mention, the index is of the last one.
    """
    index_of_mention: dict[Hashable, int] = {}
    for index, other in enumerate(others):
        for mention in other:
            index_of_mention[mention] = index
    indices = []
    for cluster in clusters:
        found = [index_of_mention[each] for each in cluster if each in index_of_mention]
        indices.append(found)
    return indices


COUNTERS = {"muc": muc, "bcub": b_cubed, "ceafe": ceaf_e, "mention": mention_counts}


@Metric.register("coref_conll")
class CorefConll(CountingMetric):
    """
    Precision, recall and F1 of clusters of mentions, as the reference scorer of CoNLL-2012 counts
    them, over all processes.

    Registered as a `Metric` with name "coref_conll".
    """

    def __call__(  # type: ignore[override]
        self, predicted: Iterable[Iterable[Hashable]], gold: Iterable[Iterable[Hashable]]
    ) -> None:
        """
        Adds the predicted and the gold clusters of one document. A mention may be a tuple, a
        `Span`, or a list as in JSON. Predicted mentions that are repeated count as in the reference
        scorer: a correct one only the first time, and a wrong one each time. In the figures of
        mentions, a wrong one counts once as well.
        """
        gold_clusters = _without_empty(gold)
        predicted_clusters = _without_empty(predicted)
        correct_mentions = set(chain.from_iterable(gold_clusters))
        unique = _without_repeated(predicted_clusters, correct_mentions)
        repeated = _number_of_mentions(predicted_clusters) - _number_of_mentions(unique)
        self.counts["documents"]["all"] += 1
        self.counts["documents"]["repeated"] += repeated
        for name, count in COUNTERS.items():
            self.counts[name].update(count(gold_clusters, unique)._asdict())

    def numbers(self) -> dict[str, CorefCounts]:
        """Returns the counts of "muc", "bcub", "ceafe" and "mention"."""
        return {name: CorefCounts(**self.counts[name]) for name in COUNTERS}

    def average(self) -> Figures:
        """Returns the means of precision, recall and F1 of MUC, B-cubed and CEAF-e."""
        numbers = self.numbers()
        figures = [numbers[name].figures() for name in METRICS]
        return Figures(
            precision=sum(each.precision for each in figures) / len(METRICS),
            recall=sum(each.recall for each in figures) / len(METRICS),
            f1=sum(each.f1 for each in figures) / len(METRICS),
        )

    @overrides
    def metrics(self) -> dict[str, float]:
        """
        Returns precision, recall and F1, from 0 to 1, by names such as `muc_f1`: of MUC, B-cubed
        and CEAF-e (`muc`, `bcub`, `ceafe`), their mean (`coref`), and of mentions (`mention`).
        """
        groups = {"coref": self.average()}
        for name, counts in self.numbers().items():
            groups[name] = counts.figures()
        named = {}
        for group, figures in groups.items():
            for name, figure in figures._asdict().items():
                named[f"{group}_{name}"] = figure
        return named

    @overrides
    def missing_gold(self) -> str:
        has_mentions = self.counts["mention"]["recall_denominator"] > 0
        if self.counts["documents"] and not has_mentions:
            return "clusters"
        return ""


def score_coref(
    keys: Iterable[CorefDocument], responses: Iterable[CorefDocument]
) -> dict[str, Any]:
    """
    Scores the clusters of a system, the responses, against the gold clusters, the keys. As in the
    reference scorer, a document without a response counts as empty, and a response without a key is
    skipped, each with a warning. A key with a cluster that repeats a mention has a warning as well.
    Returns the counts and percentages of MUC, B-cubed and CEAF-e, and the mean of their F1.

    Raises `ConfigurationError`, naming file and line, if a document occurs twice or has another
    number of words on the other side, or the responses repeat more than ten correct mentions: the
    reference scorer refuses to score these.
    """
    keys_by_title = _by_title(keys)
    responses_by_title = _by_title(responses)
    metric = CorefConll()
    for title, key in keys_by_title.items():
        if any(len(set(cluster)) < len(cluster) for cluster in key.clusters):
            logger.warning(
                "%s: a cluster repeats a mention: scores may be above 100 %%", key.location
            )
        response = responses_by_title.pop(title, None)
        if response is None:
            logger.warning(
                "%s: %s is missing in the response; it counts as empty", key.location, title
            )
            metric(predicted=[], gold=key.clusters)
            continue
        if key.length != response.length:
            raise ConfigurationError(
                f"{response.location}: the document that begins here has {response.length} words, "
                f"but {key.length} in {key.location}"
            )
        metric(predicted=response.clusters, gold=key.clusters)
        if metric.counts["documents"]["repeated"] > MAX_REPEATED:
            raise ConfigurationError(
                f"{response.location}: by the end of the document that begins here more than "
                f"{MAX_REPEATED} mentions are repeated; the reference scorer refuses to score them"
            )
    for title, response in responses_by_title.items():  # those that are left
        logger.warning("%s: %s is not in the key; it is skipped", response.location, title)
    numbers = metric.numbers()
    scores: dict[str, Any] = {name: _as_printed(numbers[name]) for name in METRICS}
    scores["average_f1"] = _percent(metric.average().f1)
    return scores


def _by_title(documents: Iterable[CorefDocument]) -> dict[str, CorefDocument]:
    """Returns documents by their titles. Raises `ConfigurationError` if two have the same."""
    by_title: dict[str, CorefDocument] = {}
    for document in documents:
        first = by_title.get(document.title)
        if first is not None:
            raise ConfigurationError(
                f"{document.location}: {document.title} is also the document in line "
                f"{first.first_line}"
            )
        by_title[document.title] = document
    return by_title


def _as_printed(counts: CorefCounts) -> dict[str, float]:
    """
    Returns the counts and figures as the scorer prints them: counts with the fifteen digits of
    perl, figures as percentages.
    """
    printed = {}
    for name, number in counts._asdict().items():
        printed[name] = float(f"{number:.15g}")
    for name, figure in counts.figures()._asdict().items():
        printed[name] = _percent(figure)
    return printed


def _percent(figure: float) -> float:
    """
    Returns percent with two decimals. The scorer cuts off all further digits, as in 66.63 for
    66.637.
    """
    return int(figure * 10000) / 100
