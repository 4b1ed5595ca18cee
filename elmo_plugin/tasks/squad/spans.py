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
    # The width of an answer is its number of words, less one: from 0 to before `num_widths`.
    num_widths = min(max_words, start.size(1))
    padded = functional.pad(end, (0, num_widths - 1), value=float("-inf"))
    # The last words of the answers that begin at each word, by their widths.
    ends = padded.unfold(1, num_widths, 1)  # Shape: (batch, time, num_widths)
    scores = (start.unsqueeze(2) + ends).flatten(1)  # Shape: (batch, time * num_widths)
    best, indices = scores.topk(min(count, scores.size(1)), dim=1)  # Shapes: (batch, count)
    answers = []
    for scores_of_question, indices_of_question in zip(
        best.tolist(), indices.tolist(), strict=True
    ):
        spans = []
        for score, index in zip(scores_of_question, indices_of_question, strict=True):
            first, width = divmod(index, num_widths)
            if score > -math.inf:  # else it ends in padding
                spans.append(AnswerSpan(first, first + width, math.exp(score)))
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
    first, last = answers.clamp(min=0).unbind(dim=2)  # Shapes: (batch, answers)
    log_probabilities = start.gather(1, first) + end.gather(1, last)  # Shape: (batch, answers)
    log_probabilities = log_probabilities.masked_fill(~is_answer, float("-inf"))
    return -log_probabilities.logsumexp(dim=1).mean()


def average_boundary_logits(members: list[BoundaryLogits]) -> BoundaryLogits:
    """Returns logits of the mean of the models' probabilities of start and of end."""
    starts = []
    ends = []
    for member in members:
        start, end = member.log_probabilities()
        starts.append(start)
        ends.append(end)
    # The sum of the probabilities: as logits, it is the same as their mean. Clamped, because a
    # model's own logits are finite at padding.
    lowest = torch.finfo(members[0].start.dtype).min
    return BoundaryLogits(
        torch.stack(starts).logsumexp(dim=0).clamp(min=lowest),
        torch.stack(ends).logsumexp(dim=0).clamp(min=lowest),
        members[0].mask,
    )
