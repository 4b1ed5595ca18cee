"""Spans as a grid, against lists of all spans."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.tasks.coref.span_encoder import best_spans, spans_in_sentences


def cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Of spans of first and last word: whether they overlap, and neither is inside of the other."""
    (start, end), (other_start, other_end) = sorted([one, other])
    return start < other_start <= end < other_end


def in_turn(scores: Tensor, valid: Tensor, count: int, may_cross: bool) -> list[tuple[int, int]]:
    """Lee et al. (2017) word for word: from the best span on, none that crosses one that was taken."""
    spans = [(start, width) for start, width in valid.nonzero().tolist()]
    taken: list[tuple[int, int]] = []
    for start, width in sorted(spans, key=lambda span: -scores[span].item()):
        span = (start, start + width)
        if may_cross or not any(cross(span, other) for other in taken):
            taken.append(span)
    return sorted(taken[:count])


@st.composite
def grids(draw: st.DrawFn) -> tuple[Tensor, Tensor]:
    """Scores of spans, of which some are equal, and which of them are inside of sentences."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    width = draw(st.integers(1, 7))
    sentence = torch.tensor([number for number, length in enumerate(lengths) for _ in range(length)])
    values = st.lists(st.integers(-6, 6), min_size=len(sentence) * width, max_size=len(sentence) * width)
    scores = torch.tensor(draw(values), dtype=torch.float).view(len(sentence), width)
    return scores, spans_in_sentences(sentence, width)


@given(grids(), st.integers(1, 40), st.booleans())
def test_the_best_spans_are_those_that_one_takes_in_turn(
    grid: tuple[Tensor, Tensor], count: int, may_cross: bool
) -> None:
    scores, valid = grid
    spans = best_spans(scores, valid, count, may_cross)
    assert list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)) == in_turn(
        scores, valid, count, may_cross
    )


def test_spans_end_in_the_sentence_that_they_begin_in() -> None:
    valid = spans_in_sentences(torch.tensor([0, 0, 0, 1, 1]), max_width=3)
    assert valid.int().tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 0]]
