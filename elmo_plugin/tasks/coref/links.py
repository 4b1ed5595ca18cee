"""Antecedents: their loss, the clusters that they make, and how people read these."""

from collections.abc import Sequence
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
    # Shape: (spans, 1 + antecedents), for no antecedent, then for the spans before it, the nearest
    # one first; `-inf` if there is none.
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
    numbers = {
        mention: number for number, mentions in enumerate(clusters, 1) for mention in mentions
    }
    cluster = torch.tensor(
        [numbers.get(span, 0) for span in logits.spans], device=logits.logits.device
    )
    antecedents = antecedent_indices(logits.logits[:, 1:])
    correct = cluster[antecedents.clamp(min=0)] == cluster.unsqueeze(1)
    correct &= (antecedents >= 0) & (cluster > 0).unsqueeze(1)
    correct = torch.cat([~correct.any(dim=1, keepdim=True), correct], dim=1)
    correct_logits = logits.logits.masked_fill(~correct, float("-inf"))
    return (logits.logits.logsumexp(dim=1) - correct_logits.logsumexp(dim=1)).sum()


def antecedent_indices(scores: Tensor) -> Tensor:
    """
    Returns the index of the span of each score, of shape (spans, antecedents); negative if there is
    none.
    """
    spans, distances = (torch.arange(size, device=scores.device) for size in scores.shape)
    return spans.unsqueeze(1) - 1 - distances


def best_links(logits: AntecedentLogits) -> list[Link]:
    """Returns the best antecedent of each span that is more probable than none."""
    probabilities, best = logits.logits.softmax(dim=1).max(dim=1)
    choices = zip(logits.spans, best.tolist(), probabilities.tolist(), strict=True)
    return [
        Link(span, logits.spans[index - choice], probability)
        for index, (span, choice, probability) in enumerate(choices)
        if choice > 0
    ]


def link_clusters(links: Sequence[Link]) -> list[list[Span]]:
    """Returns the clusters of linked mentions, from left to right."""
    cluster_of: dict[Span, list[Span]] = {}
    clusters: list[list[Span]] = []
    for link in links:
        if link.antecedent not in cluster_of:
            clusters.append([link.antecedent])
            cluster_of[link.antecedent] = clusters[-1]
        cluster = cluster_of[link.mention] = cluster_of[link.antecedent]
        cluster.append(link.mention)
    return sorted(sorted(cluster) for cluster in clusters)


def average_antecedent_logits(members: Sequence[AntecedentLogits]) -> AntecedentLogits:
    """
    Returns logits of the mean of the members' probabilities, for the union of their spans. If one
    model does not have a span, that model gives it no antecedent, and it is nobody's antecedent.
    """
    union = sorted({span for member in members for span in member.spans})
    union_index = {span: index for index, span in enumerate(union)}
    none = len(union)  # the column for no antecedent; every other column is a span of the union
    total = members[0].logits.new_zeros(len(union), len(union) + 1)
    for member in members:
        rows = torch.tensor([union_index[span] for span in member.spans], device=total.device)
        antecedents = antecedent_indices(member.logits[:, 1:])
        columns = rows[antecedents.clamp(min=0)].masked_fill(antecedents < 0, none)
        columns = functional.pad(columns, (1, 0), value=none)
        probabilities = member.logits.softmax(dim=1)
        aligned = torch.zeros_like(total)
        aligned[:, none] = 1.0
        aligned[rows] = torch.zeros_like(aligned[rows]).scatter_add(1, columns, probabilities)
        total += aligned / len(members)
    antecedents = antecedent_indices(total[:, : max(len(union) - 1, 1)])
    nearest_first = total.gather(1, antecedents.clamp(min=0))
    tiny = torch.finfo(total.dtype).tiny  # the logarithm of a correct antecedent is finite
    logits = nearest_first.clamp(min=tiny).log().masked_fill(antecedents < 0, float("-inf"))
    return AntecedentLogits(
        union, torch.cat([total[:, none:].clamp(min=tiny).log(), logits], dim=1)
    )


def describe(
    document: CorefDocument, clusters: Sequence[Sequence[Span]], links: Sequence[Link]
) -> dict[str, Any]:
    """
    Returns `clusters` and `antecedents`, with the text and place of each mention, and the document
    `marked` with its clusters.
    """
    words = [word for sentence in document.typed_sentences for word in sentence]
    text, places = document.text, document.places
    if text is None or places is None:
        text, places = join_words(words)

    def describe_mention(mention: Span) -> dict[str, Any]:
        start, end, _ = mention
        characters = [places[start][0], places[end - 1][1]]
        return {
            "text": text[slice(*characters)],
            "start": start,
            "end": end,
            "characters": characters,
        }

    return {
        "clusters": [[describe_mention(mention) for mention in cluster] for cluster in clusters],
        "antecedents": [
            {
                "mention": describe_mention(mention),
                "antecedent": describe_mention(antecedent),
                "probability": probability,
            }
            for mention, antecedent, probability in links
        ],
        "marked": mark(words, clusters),
    }


def mark(words: Sequence[str], clusters: Sequence[Sequence[Span]]) -> str:
    """
    Returns the words with their mentions in brackets, and the number of the cluster, such as
    `[She]0`.
    """
    marked = list(words)
    mentions = [
        (*mention[:2], number) for number, cluster in enumerate(clusters) for mention in cluster
    ]
    for start, end, number in sorted(mentions, key=lambda mention: mention[1] - mention[0]):
        marked[start] = f"[{marked[start]}"
        marked[end - 1] = f"{marked[end - 1]}]{number}"
    return " ".join(marked)
