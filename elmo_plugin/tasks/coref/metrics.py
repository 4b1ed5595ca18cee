"""MUC, B-cubed, CEAF-e and mentions, counted as the reference scorer of CoNLL-2012 counts them
(v8.01).
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.counting import CountingMetric, Figures, harmonic_mean, ratio

logger = get_logger(__name__)

METRICS = ("muc", "bcub", "ceafe")  # the score of CoNLL-2012 is their mean
# The reference scorer scores no response that repeats more correct mentions than this.
MAX_REPEATED = 10
# The mentions of a cluster, as `Span`s; a mention may be repeated.
Cluster = Sequence[Hashable]
# A similarity, from 0 to 1, is rounded to one of this many steps to be a whole number.
SIMILARITY_STEPS = 2**40


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


def _without_repeated(predicted: Sequence[Cluster], correct: set[Hashable]) -> list[Cluster]:
    """
    Returns the predicted clusters with each correct mention only once, in the first cluster that
    has it. Wrong mentions stay repeated, as in the reference scorer. A cluster that becomes empty
    is left out.
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
    Counts links. A cluster of n mentions has n - 1 links, enough to connect all its mentions. The
    correct links connect mentions that are in one cluster of both the gold data and the prediction.
    """
    correct = 0
    for gold_indices in _look_up_mentions(predicted, others=gold):
        # The mentions of a predicted cluster fall into groups, one for each gold cluster that they
        # come from. A group of n mentions has n - 1 correct links.
        num_groups = len(set(gold_indices))
        correct += len(gold_indices) - num_groups
    gold_links = sum(len(cluster) - 1 for cluster in gold)
    predicted_links = sum(len(cluster) - 1 for cluster in predicted)
    return CorefCounts(
        recall_numerator=correct,
        recall_denominator=gold_links,
        precision_numerator=correct,
        precision_denominator=predicted_links,
    )


def b_cubed(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """
    Compares the gold cluster and the predicted cluster of each mention by the number of their
    common mentions. Recall is the mean of this number divided by the size of the gold cluster, and
    precision is the mean of it divided by the size of the predicted cluster. Mentions are added one
    at a time, as in the reference scorer, so that the last digits agree.
    """
    gold_members = [set(cluster) for cluster in gold]
    recall = 0.0
    precision = 0.0
    gold_indices_of_clusters = _look_up_mentions(predicted, others=gold)
    for cluster, gold_indices in zip(predicted, gold_indices_of_clusters, strict=True):
        # How many mentions this cluster shares with each gold cluster. `gold_indices` cannot be
        # counted for it: it has one gold cluster for a mention that may be in several.
        num_common = {}
        for index in set(gold_indices):
            num_common[index] = sum(mention in gold_members[index] for mention in cluster)
        for index in gold_indices:
            recall += num_common[index] / len(gold[index])
            precision += num_common[index] / len(cluster)
    return CorefCounts(
        recall_numerator=recall,
        recall_denominator=_number_of_mentions(gold),
        precision_numerator=precision,
        precision_denominator=_number_of_mentions(predicted),
    )


def ceaf_e(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> CorefCounts:
    """
    Sums the similarities of gold and predicted clusters in their best one-to-one alignment. The
    similarity of two clusters is twice the number of their common mentions, divided by the sum of
    their sizes (phi 4).
    """
    import networkx  # here, because the import takes a moment, and only this metric needs it

    alignments = networkx.Graph()
    # Each gold cluster is compared with the predicted clusters that its mentions are in.
    for gold_index, predicted_indices in enumerate(_look_up_mentions(gold, others=predicted)):
        for predicted_index, num_common in Counter(predicted_indices).items():
            size_of_both = len(gold[gold_index]) + len(predicted[predicted_index])
            similarity = 2 * num_common / size_of_both
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
    return CorefCounts(
        recall_numerator=correct,
        recall_denominator=len(gold_mentions),
        precision_numerator=correct,
        precision_denominator=len(predicted_mentions),
    )


def _number_of_mentions(clusters: Iterable[Cluster]) -> int:
    """Counts mentions each time they occur."""
    return sum(len(cluster) for cluster in clusters)


def _look_up_mentions(clusters: Sequence[Cluster], *, others: Sequence[Cluster]) -> list[list[int]]:
    """
    Looks up the mentions of some clusters in other clusters: gold mentions in predicted clusters,
    or the reverse. Returns, for each of `clusters`, the index in `others` of each mention. Mentions
    that are in none of `others` are left out. If a mention is in several, the last one counts.
    """
    index_of_mention: dict[Hashable, int] = {}
    for index, other in enumerate(others):
        for mention in other:
            index_of_mention[mention] = index
    indices_of_clusters = []
    for cluster in clusters:
        indices = []
        for mention in cluster:
            if mention in index_of_mention:
                indices.append(index_of_mention[mention])
        indices_of_clusters.append(indices)
    return indices_of_clusters


COUNTERS = {"muc": muc, "bcub": b_cubed, "ceafe": ceaf_e, "mention": mention_counts}


@Metric.register("coref_conll")
class CorefConll(CountingMetric):
    """
    Precision, recall and F1 of clusters of mentions, as the reference scorer of CoNLL-2012 counts
    them, over all processes.

    Registered as a `Metric` with name "coref_conll".
    """

    def __call__(  # type: ignore[override]
        self, predicted: Iterable[Cluster], gold: Iterable[Cluster]
    ) -> None:
        """
        Adds the predicted and the gold clusters of one document. Empty clusters are left out.
        Predicted mentions that are repeated count as in the reference scorer. A correct one counts
        only the first time. A wrong one counts each time, but in the figures of mentions only once.
        """
        gold_clusters = [cluster for cluster in gold if cluster]
        all_predicted = [cluster for cluster in predicted if cluster]
        correct_mentions = set(chain.from_iterable(gold_clusters))
        scored = _without_repeated(all_predicted, correct_mentions)
        # Only repetitions of correct mentions were removed.
        num_repeated = _number_of_mentions(all_predicted) - _number_of_mentions(scored)
        self.counts["documents"]["all"] += 1
        self.counts["documents"]["repeated"] += num_repeated
        for name, count in COUNTERS.items():
            counts = count(gold_clusters, scored)
            self.counts[name].update(counts._asdict())

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
        num_documents = self.counts["documents"]["all"]
        num_gold_mentions = self.counts["mention"]["recall_denominator"]
        if num_documents > 0 and num_gold_mentions == 0:
            return "clusters"
        return ""


def score_coref(
    keys: Iterable[CorefDocument], responses: Iterable[CorefDocument]
) -> dict[str, Any]:
    """
    Scores the clusters of a system, the responses, against the gold clusters, the keys. As in the
    reference scorer, a document without a response is scored as if no clusters were predicted, and
    a response without a key is skipped, each with a warning. Also warns if a cluster of a key
    repeats a mention. Returns the counts and percentages of MUC, B-cubed and CEAF-e, and the mean
    of their F1.

    Raises `ConfigurationError`, naming file and line, if a document occurs twice, if its numbers of
    words in key and response differ, or if the responses repeat more than `MAX_REPEATED` correct
    mentions. The reference scorer refuses such files as well.
    """
    keys_by_title = _by_title(keys)
    responses_by_title = _by_title(responses)
    metric = CorefConll()
    for title, key in keys_by_title.items():
        _warn_of_repeated_mentions(key)
        response = responses_by_title.pop(title, None)
        if response is None:
            logger.warning(
                "%s: %s is missing in the response; it counts as empty", key.location, title
            )
            metric(predicted=[], gold=key.clusters)
        else:
            _add_response(metric, response, key)
    responses_without_key = responses_by_title
    for title, response in responses_without_key.items():
        logger.warning("%s: %s is not in the key; it is skipped", response.location, title)
    counts = metric.numbers()
    scores: dict[str, Any] = {name: _as_printed(counts[name]) for name in METRICS}
    scores["average_f1"] = _percent(metric.average().f1)
    return scores


def _warn_of_repeated_mentions(key: CorefDocument) -> None:
    """Warns if one of the gold clusters repeats a mention."""
    if any(len(set(cluster)) < len(cluster) for cluster in key.clusters):
        logger.warning("%s: a cluster repeats a mention: scores may be above 100 %%", key.location)


def _add_response(metric: CorefConll, response: CorefDocument, key: CorefDocument) -> None:
    """
    Adds a document to the metric. Raises `ConfigurationError`, naming file and line, if the
    response has other words, or if too many mentions of all responses so far are repeated.
    """
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


def _by_title(documents: Iterable[CorefDocument]) -> dict[str, CorefDocument]:
    """Returns documents by their titles. Raises `ConfigurationError` if a title occurs twice."""
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
    Returns the counts and figures as the reference scorer prints them: counts with fifteen digits,
    as a perl program prints any number, and figures as percentages.
    """
    printed = {}
    for name, number in counts._asdict().items():
        printed[name] = float(f"{number:.15g}")
    for name, figure in counts.figures()._asdict().items():
        printed[name] = _percent(figure)
    return printed


def _percent(figure: float) -> float:
    """
    Returns a figure from 0 to 1 as a percentage with two decimals. Further digits are cut off and
    not rounded, as in the reference scorer: 0.66637 gives 66.63.
    """
    return int(figure * 10000) / 100
