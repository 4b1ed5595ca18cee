"""The best spans of words, from the logits of their first and their last word."""

import math
from typing import NamedTuple

import torch
from torch import BoolTensor, Tensor
from torch.nn import functional


class BoundaryLogits(NamedTuple):
    """
    The logits of each word as the first and as the last word of the answer. Shapes: (batch, time).
    """

    start: Tensor
    end: Tensor
    mask: BoolTensor

    def log_probabilities(self) -> tuple[Tensor, Tensor]:
        """Returns the logarithms of the probabilities of start and end, -inf at padding."""
        start = self.start.masked_fill(~self.mask, float("-inf"))
        end = self.end.masked_fill(~self.mask, float("-inf"))
        return start.log_softmax(dim=1), end.log_softmax(dim=1)


def best_answers(
    logits: BoundaryLogits, max_words: int, count: int
) -> list[list[tuple[int, int, float]]]:
    """
    Returns the `count` most probable answers of at most `max_words` to each question, the best
    first: their first and last words, and the probability that both are correct.
    """
    start, end = logits.log_probabilities()
    widths = min(max_words, start.size(1))
    ends = functional.pad(end, (0, widths - 1), value=float("-inf")).unfold(1, widths, 1)
    scores = (start.unsqueeze(2) + ends).flatten(1)  # Shape: (batch, time * widths)
    best, indices = scores.topk(min(count, scores.size(1)), dim=1)
    return [
        [
            (index // widths, index // widths + index % widths, math.exp(score))
            for score, index in zip(row.tolist(), row_indices.tolist(), strict=True)
            if score > -math.inf  # the remaining spans end in padding
        ]
        for row, row_indices in zip(best, indices, strict=True)
    ]


def span_loss(logits: BoundaryLogits, answers: Tensor) -> Tensor:
    """
    Computes the negative logarithm of the probability of all correct spans together, the mean over
    questions. `answers` has the first and the last word of each correct span, of shape (batch,
    answers, 2), padded by -1.
    """
    start, end = logits.log_probabilities()
    is_answer = answers[..., 0] >= 0
    first, last = answers.clamp(min=0).unbind(dim=2)
    likelihood = start.gather(1, first) + end.gather(1, last)  # Shape: (batch, answers)
    return -likelihood.masked_fill(~is_answer, float("-inf")).logsumexp(dim=1).mean()


def average_boundary_logits(members: list[BoundaryLogits]) -> BoundaryLogits:
    """Returns logits of the mean of the models' probabilities of start and of end."""
    log_probabilities = [member.log_probabilities() for member in members]
    lowest = torch.finfo(members[0].start.dtype).min
    start, end = (
        torch.stack(boundary).logsumexp(dim=0).clamp(min=lowest)
        for boundary in zip(*log_probabilities, strict=True)
    )
    return BoundaryLogits(start, end, members[0].mask)
