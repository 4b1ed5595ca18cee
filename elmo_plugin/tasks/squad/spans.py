"""The best spans of words, from the scores of their first and their last word."""

import math
from typing import NamedTuple

import torch
from torch import BoolTensor, Tensor
from torch.nn import functional


class BoundaryLogits(NamedTuple):
    """
    start, end: the logits of each word as the first and as the last one of the answer, shape (batch, time)
    mask: shape (batch, time), true at the words
    """

    start: Tensor
    end: Tensor
    mask: BoolTensor

    def log_probabilities(self) -> tuple[Tensor, Tensor]:
        """Returns the logarithms of the probabilities of start and end, -inf at padding."""
        start, end = (each.masked_fill(~self.mask, float("-inf")) for each in (self.start, self.end))
        return start.log_softmax(dim=1), end.log_softmax(dim=1)


class Span(NamedTuple):
    """
    first, last: the indices of its first and its last word
    probability: that both are right
    """

    first: int
    last: int
    probability: float


def best_answers(logits: BoundaryLogits, max_words: int, count: int) -> list[list[Span]]:
    """
    Finds the most probable answers.

    # Parameters

    logits : `BoundaryLogits`
        Of a batch of questions.
    max_words : `int`
        The most words of an answer.
    count : `int`
        How many answers each question gets, if there are as many spans.

    # Returns

    `list[list[Span]]`
        For each question, the best first.
    """
    start, end = logits.log_probabilities()
    widths = min(max_words, start.size(1))
    ends = functional.pad(end, (0, widths - 1), value=float("-inf")).unfold(1, widths, 1)
    scores = (start.unsqueeze(2) + ends).flatten(1)  # Shape: (batch, time * widths)
    best, places = scores.topk(min(count, scores.size(1)), dim=1)
    return [
        [
            Span(place // widths, place // widths + place % widths, math.exp(score))
            for score, place in zip(row.tolist(), row_places.tolist(), strict=True)
            if score > -math.inf  # the others end before they start, or are padding
        ]
        for row, row_places in zip(best, places, strict=True)
    ]


def span_loss(logits: BoundaryLogits, answers: Tensor) -> Tensor:
    """
    Computes the negative logarithm of the probability of all right spans together, the mean over questions.

    # Parameters

    logits : `BoundaryLogits`
        Of a batch of questions.
    answers : `Tensor`
        The first and the last word of each right span. Shape (batch, answers, 2), -1 where a question has
        fewer answers than others.
    """
    start, end = logits.log_probabilities()
    there = answers[..., 0] >= 0
    first, last = answers.clamp(min=0).unbind(dim=2)
    likelihood = start.gather(1, first) + end.gather(1, last)  # Shape: (batch, answers)
    return -likelihood.masked_fill(~there, float("-inf")).logsumexp(dim=1).mean()


def average_boundary_logits(members: list[BoundaryLogits]) -> BoundaryLogits:
    """Returns logits of the mean of the probabilities of start and of end."""
    starts, ends = zip(*(each.log_probabilities() for each in members), strict=True)
    lowest = torch.finfo(members[0].start.dtype).min
    start, end = (torch.stack(each).logsumexp(dim=0).clamp(min=lowest) for each in (starts, ends))
    return BoundaryLogits(start, end, members[0].mask)
