"""The loss of antecedents, and the clusters that they make."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.tasks.coref.clusters import Mention


class AntecedentLogits(NamedTuple):
    """
    The logits of the antecedents of the spans of one document.

    spans: the spans that may be mentions, from left to right
    logits: shape (spans, 1 + antecedents): first that of no antecedent, then those of the spans before it,
        the nearest one first; `-inf` where there is none
    """

    spans: list[Mention]
    logits: Tensor


class Link(NamedTuple):
    """
    mention: a span
    antecedent: one before it that refers to the same
    probability: of this antecedent
    """

    mention: Mention
    antecedent: Mention
    probability: float


def marginal_loss(logits: AntecedentLogits, clusters: Sequence[Sequence[Mention]]) -> Tensor:
    """
    Computes the negative logarithm of the probability that each span has one of its right antecedents, which
    for spans without one is the empty antecedent: the sum over spans (Lee et al., 2017, equation 1 and
    section 5).
    """
    cluster_of = {
        mention: number for number, mention_list in enumerate(clusters, 1) for mention in mention_list
    }
    numbers = torch.tensor([cluster_of.get(span, 0) for span in logits.spans], device=logits.logits.device)
    places = antecedent_places(logits.logits[:, 1:])
    right = (
        (numbers[places.clamp(min=0)] == numbers.unsqueeze(1)) & (places >= 0) & (numbers > 0).unsqueeze(1)
    )
    right = torch.cat([~right.any(dim=1, keepdim=True), right], dim=1)
    of_right = logits.logits.masked_fill(~right, float("-inf")).logsumexp(dim=1)
    return (logits.logits.logsumexp(dim=1) - of_right).sum()


def antecedent_places(scores: Tensor) -> Tensor:
    """
    Returns the index of the span of each score, of shape (spans, antecedents), the nearest one first;
    negative where there is none.
    """
    spans, nearest = (torch.arange(size, device=scores.device) for size in scores.shape)
    places: Tensor = spans.unsqueeze(1) - 1 - nearest
    return places


def best_links(logits: AntecedentLogits) -> list[Link]:
    """Returns the best antecedent of each span for which that is better than none."""
    probabilities, best = logits.logits.softmax(dim=1).max(dim=1)
    return [
        Link(span, logits.spans[place - choice], probability)
        for place, (span, choice, probability) in enumerate(
            zip(logits.spans, best.tolist(), probabilities.tolist(), strict=True)
        )
        if choice > 0
    ]


def clusters_of(links: Sequence[Link]) -> list[list[Mention]]:
    """Returns the clusters that links make: a mention is in that of its antecedent. From left to right."""
    cluster_of: dict[Mention, list[Mention]] = {}
    clusters: list[list[Mention]] = []
    for link in links:
        if link.antecedent not in cluster_of:
            clusters.append([link.antecedent])
            cluster_of[link.antecedent] = clusters[-1]
        cluster = cluster_of[link.mention] = cluster_of[link.antecedent]
        cluster.append(link.mention)
    return sorted(sorted(cluster) for cluster in clusters)


def average_antecedent_logits(members: Sequence[AntecedentLogits]) -> AntecedentLogits:
    """
    Returns logits of the mean of the members' probabilities, for the union of their spans. A member gives a
    span that it does not have no antecedent, and never has it as one.
    """
    union = sorted({span for member in members for span in member.spans})
    place_of = {span: place for place, span in enumerate(union)}
    first = members[0].logits
    total = first.new_zeros(
        len(union), len(union) + 1
    )  # the columns are antecedents by their place; last: none
    for member in members:
        places = torch.tensor([place_of[span] for span in member.spans], device=first.device)
        probabilities = member.logits.softmax(dim=1)
        antecedents = antecedent_places(member.logits[:, 1:])
        columns = places[antecedents.clamp(min=0)].masked_fill(antecedents < 0, len(union))
        columns = torch.cat([torch.full_like(columns[:, :1], len(union)), columns], dim=1)
        of_member = torch.zeros_like(total)
        of_member[:, -1] = 1.0
        of_member[places] = torch.zeros_like(of_member[places]).scatter_add(1, columns, probabilities)
        total += of_member / len(members)
    nearest_first = torch.cat([total[:, -1:], total.new_zeros(len(union), max(len(union) - 1, 1))], dim=1)
    places = antecedent_places(nearest_first[:, 1:])
    nearest_first[:, 1:] = total.gather(1, places.clamp(min=0)).masked_fill(places < 0, 0.0)
    tiny = torch.finfo(total.dtype).tiny  # that a right antecedent may have: its logarithm is finite
    logits = nearest_first.clamp(min=tiny).log()
    logits[:, 1:] = logits[:, 1:].masked_fill(places < 0, float("-inf"))
    return AntecedentLogits(union, logits)
