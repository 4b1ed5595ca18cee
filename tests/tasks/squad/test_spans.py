"""The best spans and the loss against all spans, one by one."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.tasks.squad.spans import BoundaryLogits, average_boundary_logits, best_answers, span_loss


def logits_of(seed: int, lengths: list[int]) -> BoundaryLogits:
    torch.manual_seed(seed)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    start, end = torch.randn(2, *mask.shape, dtype=torch.float64)
    return BoundaryLogits(start, end, mask)


def probabilities(logits: BoundaryLogits, row: int) -> tuple[Tensor, Tensor]:
    there = logits.mask[row]
    return logits.start[row][there].softmax(dim=0), logits.end[row][there].softmax(dim=0)


@given(
    st.integers(0, 1000), st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(1, 12),
    st.integers(1, 6),
)  # fmt: skip
def test_the_best_spans_are_those_of_all_spans(
    seed: int, lengths: list[int], max_words: int, count: int
) -> None:
    logits = logits_of(seed, lengths)
    for row, found in enumerate(best_answers(logits, max_words, count)):
        start, end = probabilities(logits, row)
        spans = [
            ((start[first] * end[last]).item(), first, last)
            for first in range(lengths[row])
            for last in range(first, min(first + max_words, lengths[row]))
        ]
        expected = sorted(spans, reverse=True)[:count]
        assert [(span.first, span.last) for span in found] == [each[1:] for each in expected]
        assert [span.probability for span in found] == pytest.approx([each[0] for each in expected])


def test_the_loss_is_that_of_all_right_spans_together() -> None:
    logits = logits_of(0, [6, 4])
    answers = torch.tensor([[[1, 2], [1, 3]], [[0, 0], [-1, -1]]])
    (start, end), (other_start, other_end) = (probabilities(logits, row) for row in (0, 1))
    expected = -math.log(start[1] * end[2] + start[1] * end[3]) - math.log(other_start[0] * other_end[0])
    assert span_loss(logits, answers).item() == pytest.approx(expected / 2)


def test_the_average_is_that_of_probabilities() -> None:
    one, other = logits_of(0, [5, 3]), logits_of(1, [5, 3])
    average = average_boundary_logits([one, other])
    assert average.start.isfinite().all()
    for row in range(2):
        for found, first, second in zip(
            *(probabilities(each, row) for each in (average, one, other)), strict=True
        ):
            torch.testing.assert_close(found, (first + second) / 2)
