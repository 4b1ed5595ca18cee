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
        """
        Returns the logarithms of the probabilities of each word as the first and as the last one,
        two tensors of shape (batch, time), with -inf at padding.
        """
        start = self.start.masked_fill(~self.mask, float("-inf"))
        end = self.end.masked_fill(~self.mask, float("-inf"))
        return start.log_softmax(dim=1), end.log_softmax(dim=1)


class AnswerSpan(NamedTuple):
    """The first and the last word of an answer, and the probability that both are correct."""

    first: int
    last: int
    probability: float


def best_answers(logits: BoundaryLogits, max_words: int, count: int) -> list[list[AnswerSpan]]:
    """
    Returns, for each question, the `count` most probable answers of at most `max_words`, the best
    first; fewer if the paragraph has fewer spans.
    """
    start, end = logits.log_probabilities()
    # An answer is given by its first word and by the number of words that follow it: from 0 to
    # `max_following`.
    max_following = min(max_words, start.size(1)) - 1
    padded = functional.pad(end, (0, max_following), value=float("-inf"))
    # For each first word, the last words that may follow. Shape: (batch, time, max_following + 1)
    ends = padded.unfold(dimension=1, size=max_following + 1, step=1)
    scores = (start.unsqueeze(2) + ends).flatten(1)  # Shape: (batch, time * (max_following + 1))
    best, indices = scores.topk(min(count, scores.size(1)), dim=1)  # Shapes: (batch, count)
    answers = []
    for scores_of_question, indices_of_question in zip(
        best.tolist(), indices.tolist(), strict=True
    ):
        spans = []
        for score, index in zip(scores_of_question, indices_of_question, strict=True):
            first, following = divmod(index, max_following + 1)
            if score > -math.inf:  # Otherwise the answer ends behind the paragraph.
                spans.append(AnswerSpan(first, first + following, math.exp(score)))
        answers.append(spans)
    return answers


def span_loss(logits: BoundaryLogits, answers: Tensor) -> Tensor:
    """
    Computes the negative logarithm of the probability of all correct spans together, the mean over
    questions. `answers` has the first and the last word of each correct span, of shape (batch,
    answers, 2), padded by -1.
    """
    start, end = logits.log_probabilities()
    is_answer = answers[..., 0] >= 0  # Shape: (batch, answers)
    # The padding becomes a valid index, here 0. It is left out below.
    first, last = answers.clamp(min=0).unbind(dim=2)  # Shapes: (batch, answers)
    log_probabilities = start.gather(1, first) + end.gather(1, last)  # Shape: (batch, answers)
    log_probabilities = log_probabilities.masked_fill(~is_answer, float("-inf"))
    return -log_probabilities.logsumexp(dim=1).mean()


def average_boundary_logits(members: list[BoundaryLogits]) -> BoundaryLogits:
    """
    Returns logits whose probabilities of the first and of the last word are the means over the
    models.
    """
    # At padding, the values are finite, as the logits of a single model are. If all of them were
    # -inf, the gradient of `logsumexp` would be NaN.
    lowest = torch.finfo(members[0].start.dtype).min
    starts = []
    ends = []
    for member in members:
        start, end = member.log_probabilities()
        starts.append(start.masked_fill(~member.mask, lowest))
        ends.append(end.masked_fill(~member.mask, lowest))
    # This is the logarithm of the sum of the probabilities. As logits, the sum and the mean are the
    # same, because a softmax does not notice a common factor.
    return BoundaryLogits(
        torch.stack(starts).logsumexp(dim=0),
        torch.stack(ends).logsumexp(dim=0),
        members[0].mask,
    )
