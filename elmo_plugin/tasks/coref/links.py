"""Antecedents: their loss, the clusters that they make, and the clusters as people read them."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.predictor import join_words
from elmo_plugin.tasks.spans import Span


class AntecedentLogits(NamedTuple):
    """
    The spans of one document that may be mentions, from left to right, and logits of their
    antecedents.
    """

    spans: list[Span]
    # Shape: (spans, 1 + antecedents). The first column is for no antecedent. The other columns are
    # for the spans before a span, the nearest one first; `-inf` if no such span exists.
    logits: Tensor


class Link(NamedTuple):
    """A mention, an earlier mention that refers to the same, and the probability that it does."""

    mention: Span
    antecedent: Span
    probability: float


def marginal_loss(logits: AntecedentLogits, clusters: Sequence[Sequence[Span]]) -> Tensor:
    """
    Computes the negative log-likelihood of the correct antecedents, summed over spans (Lee et al.,
    2017, equation 1 and section 5). The probability of a span is the sum of the probabilities of
    its correct antecedents. If it has none, "no antecedent" is correct.
    """
    is_correct = _correct_antecedents(logits, clusters)  # Shape: (spans, 1 + antecedents)
    correct_logits = logits.logits.masked_fill(~is_correct, float("-inf"))
    # The logarithm of the sum of the softmax over the correct antecedents.
    log_probabilities = correct_logits.logsumexp(dim=1) - logits.logits.logsumexp(dim=1)
    return -log_probabilities.sum()


def _correct_antecedents(logits: AntecedentLogits, clusters: Sequence[Sequence[Span]]) -> Tensor:
    """
    Returns which antecedents of the logits are in the same gold cluster as their span, of shape
    (spans, 1 + antecedents). In the first column, says whether none of them is.
    """
    cluster_numbers: dict[Span, int] = {}
    for number, mentions in enumerate(clusters, start=1):  # 0 is for no cluster
        for mention in mentions:
            cluster_numbers[mention] = number
    numbers = [cluster_numbers.get(span, 0) for span in logits.spans]
    cluster_of_span = torch.tensor(numbers, device=logits.logits.device)  # Shape: (spans,)
    antecedents = antecedent_indices(logits.logits[:, 1:])  # Shape: (spans, antecedents)
    antecedent_exists = antecedents >= 0
    span_has_cluster = (cluster_of_span > 0).unsqueeze(1)
    same_cluster = cluster_of_span[antecedents.clamp(min=0)] == cluster_of_span.unsqueeze(1)
    is_correct = same_cluster & antecedent_exists & span_has_cluster
    none_is_correct = ~is_correct.any(dim=1, keepdim=True)
    return torch.cat([none_is_correct, is_correct], dim=1)


def antecedent_indices(scores: Tensor) -> Tensor:
    """
    Returns the index of the antecedent that each score is for, from scores of shape (spans,
    antecedents): the first column is for the span just before, the second for the span before it,
    and so on. The index of a missing antecedent is negative.
    """
    num_spans, num_antecedents = scores.shape
    span_indices = torch.arange(num_spans, device=scores.device)
    distances = torch.arange(1, num_antecedents + 1, device=scores.device)
    return span_indices.unsqueeze(1) - distances  # Shape: (spans, antecedents)


def best_links(logits: AntecedentLogits) -> list[Link]:
    """
    Links each span to its most probable antecedent, from left to right. Spans that most probably
    have no antecedent are left out.
    """
    best_probabilities, best_columns = logits.logits.softmax(dim=1).max(dim=1)  # Shapes: (spans,)
    columns = best_columns.tolist()
    probabilities = best_probabilities.tolist()
    links = []
    for index, mention in enumerate(logits.spans):
        column = columns[index]
        if column > 0:  # column 0 is for no antecedent
            # Column 1 is for the span just before this one, column 2 for the one before that.
            antecedent = logits.spans[index - column]
            links.append(Link(mention, antecedent, probabilities[index]))
    return links


def clusters_from_links(links: Sequence[Link]) -> list[list[Span]]:
    """
    Returns the clusters that the links of a document make, and their mentions, from left to right.
    The links are in the order of their mentions. So a mention is in the cluster of its antecedent
    before a later mention links to it.
    """
    cluster_of: dict[Span, list[Span]] = {}
    clusters: list[list[Span]] = []
    for link in links:
        cluster = cluster_of.get(link.antecedent)
        if cluster is None:
            cluster = [link.antecedent]
            clusters.append(cluster)
            cluster_of[link.antecedent] = cluster
        cluster.append(link.mention)
        cluster_of[link.mention] = cluster
    return sorted(sorted(cluster) for cluster in clusters)


def average_antecedent_logits(members: Sequence[AntecedentLogits]) -> AntecedentLogits:
    """
    Averages the probabilities of antecedents in one document over the models of an ensemble.
    Returns the logits of the mean for the union of the models' spans. If a model does not have a
    span, that model gives it no antecedent, and it is nobody's antecedent.
    """
    all_spans: set[Span] = set()
    for member in members:
        all_spans.update(member.spans)
    union = sorted(all_spans)
    mean = members[0].logits.new_zeros(len(union), len(union) + 1)
    for member in members:
        mean += _aligned_probabilities(member, union) / len(members)
    # The loss of a correct antecedent with probability 0 would be infinite.
    smallest = torch.finfo(mean.dtype).tiny
    logits = _nearest_first(mean.clamp(min=smallest).log())
    return AntecedentLogits(union, logits)


def _aligned_probabilities(member: AntecedentLogits, union: Sequence[Span]) -> Tensor:
    """
    Returns a model's probabilities of antecedents, for the spans of all models, the `union`. The
    shape is (spans, spans + 1): a column for each span of the union as the antecedent, and a last
    column for no antecedent.
    """
    index_in_union = {span: index for index, span in enumerate(union)}
    column_of_none = len(union)
    indices = [index_in_union[span] for span in member.spans]
    rows = torch.tensor(indices, device=member.logits.device)  # Shape: (spans of the member,)
    antecedents = antecedent_indices(member.logits[:, 1:])
    # The column of the union for each column of the member. Several of the member's columns go to
    # the column of none: its own column of none, and missing antecedents, with probability 0.
    columns = rows[antecedents.clamp(min=0)].masked_fill(antecedents < 0, column_of_none)
    # Shape of columns and probabilities: (spans of the member, 1 + antecedents)
    columns = functional.pad(columns, (1, 0), value=column_of_none)
    probabilities = member.logits.softmax(dim=1)
    probabilities_of_rows = probabilities.new_zeros(len(rows), len(union) + 1)
    probabilities_of_rows.scatter_add_(1, columns, probabilities)
    aligned = probabilities.new_zeros(len(union), len(union) + 1)
    aligned[:, column_of_none] = 1.0  # for the spans that this model does not have
    aligned[rows] = probabilities_of_rows
    return aligned


def _nearest_first(logits: Tensor) -> Tensor:
    """
    Moves the columns of logits, of shape (spans, spans + 1), to the order of `AntecedentLogits`:
    from a column for each span and a last one for no antecedent, to a first column for no
    antecedent and then the spans before each span, the nearest one first.
    """
    num_spans = len(logits)
    none = logits[:, num_spans:]  # Shape: (spans, 1)
    # The last span has all others before it. A single span still gets a column, of -inf.
    num_antecedents = max(num_spans - 1, 1)
    antecedents = antecedent_indices(logits[:, :num_antecedents])
    nearest_first = logits.gather(1, antecedents.clamp(min=0))  # Shape: (spans, antecedents)
    nearest_first = nearest_first.masked_fill(antecedents < 0, float("-inf"))
    return torch.cat([none, nearest_first], dim=1)


def describe_prediction(
    document: CorefDocument, clusters: Sequence[Sequence[Span]], links: Sequence[Link]
) -> dict[str, Any]:
    """
    Returns the prediction for a document in the form that is written as JSON: `clusters` and
    `antecedents` (the links), with the text and the place of each mention, and `marked`, the words
    with brackets around each mention and the number of its cluster.
    """
    words = list(chain.from_iterable(document.typed_sentences))
    text = document.text
    places = document.places
    if text is None or places is None:  # the document was given as words
        text, places = join_words(words)

    def describe_mention(mention: Span) -> dict[str, Any]:
        """
        Returns the text of a mention and its place, in words and in characters. Each end is the
        index after the last word or character.
        """
        start_character, _ = places[mention.start]
        _, end_character = places[mention.end - 1]
        return {
            "text": text[start_character:end_character],
            "start_word": mention.start,
            "end_word": mention.end,
            "characters": [start_character, end_character],
        }

    described_clusters = []
    for cluster in clusters:
        described_clusters.append([describe_mention(mention) for mention in cluster])
    antecedents = []
    for link in links:
        antecedents.append(
            {
                "mention": describe_mention(link.mention),
                "antecedent": describe_mention(link.antecedent),
                "probability": link.probability,
            }
        )
    return {
        "clusters": described_clusters,
        "antecedents": antecedents,
        "marked": mark_mentions(words, clusters),
    }


def mark_mentions(words: Sequence[str], clusters: Sequence[Sequence[Span]]) -> str:
    """
    Joins the words, with brackets around each mention and the number of its cluster behind it, such
    as `[She]0`.
    """
    mentions: list[tuple[Span, int]] = []
    for number, cluster in enumerate(clusters):
        for mention in cluster:
            mentions.append((mention, number))

    def num_words(numbered: tuple[Span, int]) -> int:
        mention, _ = numbered
        return mention.end - mention.start

    marked = list(words)
    # Short mentions come first, so that the brackets of a longer mention are outside of theirs.
    for mention, number in sorted(mentions, key=num_words):
        last = mention.end - 1
        marked[mention.start] = f"[{marked[mention.start]}"
        marked[last] = f"{marked[last]}]{number}"
    return " ".join(marked)
