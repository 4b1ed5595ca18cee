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
    # Shape: (spans, 1 + antecedents). The first column is for no antecedent, the next ones are for
    # the spans before, the nearest one first; `-inf` for a missing one.
    logits: Tensor


class Link(NamedTuple):
    """A mention, an earlier mention that refers to the same, and the probability that it does."""

    mention: Span
    antecedent: Span
    probability: float


def marginal_loss(logits: AntecedentLogits, clusters: Sequence[Sequence[Span]]) -> Tensor:
    """
    Computes the negative logarithm of the probability that each span has one of its correct
    antecedents, or no antecedent if none is correct: the sum over spans (Lee et al., 2017, equation
    1 and section 5).
    """
    cluster_numbers: dict[Span, int] = {}
    for number, mentions in enumerate(clusters, start=1):  # 0 is for no cluster
        for mention in mentions:
            cluster_numbers[mention] = number
    numbers = [cluster_numbers.get(span, 0) for span in logits.spans]
    cluster_of_span = torch.tensor(numbers, device=logits.logits.device)  # Shape: (spans,)
    antecedents = antecedent_indices(logits.logits[:, 1:])  # Shape: (spans, antecedents)
    correct = cluster_of_span[antecedents.clamp(min=0)] == cluster_of_span.unsqueeze(1)
    # Neither a missing antecedent nor a span without a cluster is correct.
    correct &= (antecedents >= 0) & (cluster_of_span > 0).unsqueeze(1)
    none_is_correct = ~correct.any(dim=1, keepdim=True)
    correct = torch.cat([none_is_correct, correct], dim=1)  # Shape: (spans, 1 + antecedents)
    correct_logits = logits.logits.masked_fill(~correct, float("-inf"))
    # The softmax of the logits, summed over the correct ones, in logarithms.
    log_probabilities = correct_logits.logsumexp(dim=1) - logits.logits.logsumexp(dim=1)
    return -log_probabilities.sum()


def antecedent_indices(scores: Tensor) -> Tensor:
    """
    Returns the index of the antecedent that each score is for, from scores of shape (spans,
    antecedents): the first column is for the span just before, the second for the span before it,
    and so on. The index of a missing antecedent is negative.
    """
    spans = torch.arange(scores.size(0), device=scores.device)
    spans_between = torch.arange(scores.size(1), device=scores.device)
    return spans.unsqueeze(1) - 1 - spans_between  # Shape: (spans, antecedents)


def best_links(logits: AntecedentLogits) -> list[Link]:
    """
    Links each span to its most probable antecedent, from left to right. Spans that most probably
    have none are left out.
    """
    probabilities, best_columns = logits.logits.softmax(dim=1).max(dim=1)  # Shapes: (spans,)
    best = zip(best_columns.tolist(), probabilities.tolist(), strict=True)
    links = []
    for index, (column, probability) in enumerate(best):
        if column > 0:  # column 0 is for no antecedent, 1 for the span just before, 2 for the next
            antecedent = logits.spans[index - column]
            links.append(Link(logits.spans[index], antecedent, probability))
    return links


def link_clusters(links: Sequence[Link]) -> list[list[Span]]:
    """
    Returns the clusters of linked mentions, from left to right. The links go from left to right,
    one for a mention, so a mention joins the cluster of its antecedent before others link to it.
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
    Returns the mean of the probabilities by several models of one document, as logits, for the
    union of the models' spans. If a model does not have a span, that model gives it no antecedent,
    and it is nobody's antecedent.
    """
    all_spans: set[Span] = set()
    for member in members:
        all_spans.update(member.spans)
    union = sorted(all_spans)
    mean = members[0].logits.new_zeros(len(union), len(union) + 1)
    for member in members:
        mean += _aligned_probabilities(member, union) / len(members)
    tiny = torch.finfo(mean.dtype).tiny  # so that the logarithm of a correct antecedent is finite
    logits = mean.clamp(min=tiny).log()  # Shape: (spans, spans + 1), see `_aligned_probabilities`
    # From a column for each span and a last one for none, to the columns of `AntecedentLogits`.
    none = logits[:, len(union) :]  # Shape: (spans, 1)
    # The last span has all others before it. A single span still gets a column, of -inf.
    num_antecedents = max(len(union) - 1, 1)
    antecedents = antecedent_indices(logits[:, :num_antecedents])
    nearest_first = logits.gather(1, antecedents.clamp(min=0))  # Shape: (spans, antecedents)
    nearest_first = nearest_first.masked_fill(antecedents < 0, float("-inf"))
    return AntecedentLogits(union, torch.cat([none, nearest_first], dim=1))


def _aligned_probabilities(member: AntecedentLogits, union: Sequence[Span]) -> Tensor:
    """
    Returns a model's probabilities for the spans of an ensemble, the `union`, of shape (spans,
    spans + 1). A column has the probability that the span at this index is the antecedent, and the
    last column, that there is none.
    """
    index_in_union = {span: index for index, span in enumerate(union)}
    column_of_none = len(union)
    indices = [index_in_union[span] for span in member.spans]
    rows = torch.tensor(indices, device=member.logits.device)  # Shape: (spans of the member,)
    antecedents = antecedent_indices(member.logits[:, 1:])
    columns = rows[antecedents.clamp(min=0)].masked_fill(antecedents < 0, column_of_none)
    # Shape of columns: (spans of the member, 1 + antecedents), as of the member's logits
    columns = functional.pad(columns, (1, 0), value=column_of_none)
    probabilities = member.logits.softmax(dim=1)
    # Added, because several columns of the member become one: its column of none, and the columns
    # of missing antecedents, with probability 0.
    probabilities_of_rows = probabilities.new_zeros(len(rows), len(union) + 1)
    probabilities_of_rows.scatter_add_(1, columns, probabilities)
    aligned = probabilities.new_zeros(len(union), len(union) + 1)
    aligned[:, column_of_none] = 1.0  # for the spans that this model does not have
    aligned[rows] = probabilities_of_rows
    return aligned


def describe(
    document: CorefDocument, clusters: Sequence[Sequence[Span]], links: Sequence[Link]
) -> dict[str, Any]:
    """
    Returns the prediction for a document as JSON has it: `clusters` and `antecedents` (the links),
    with the text and place of each mention, and `marked`, the words with the number of its cluster
    at each mention.
    """
    words = list(chain.from_iterable(document.typed_sentences))
    text = document.text
    places = document.places
    if text is None or places is None:  # the document was given as words
        text, places = join_words(words)

    def describe_mention(mention: Span) -> dict[str, Any]:
        """Returns the text and the place of a mention; both ends are after the last one."""
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
        "marked": mark(words, clusters),
    }


def mark(words: Sequence[str], clusters: Sequence[Sequence[Span]]) -> str:
    """
    Returns the words with each mention in brackets, and behind it the number of its cluster, such
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
    # Short mentions first, so that the brackets of a longer mention come around theirs.
    for mention, number in sorted(mentions, key=num_words):
        last = mention.end - 1
        marked[mention.start] = f"[{marked[mention.start]}"
        marked[last] = f"{marked[last]}]{number}"
    return " ".join(marked)
