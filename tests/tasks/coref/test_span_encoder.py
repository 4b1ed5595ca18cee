"""Spans and their vectors against lists of all spans, in float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.tasks.coref import span_encoder
from elmo_plugin.tasks.coref.span_encoder import SpanEncoder, Spans, best_spans, is_within_sentence

TIME, MAX_WIDTH = 11, 4


@pytest.fixture
def encoder() -> SpanEncoder:
    torch.manual_seed(0)
    return SpanEncoder(
        encoded_dim=5, embedded_dim=3, max_width=MAX_WIDTH, width_dim=2, dropout=0.0
    ).double()


@pytest.fixture
def words() -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    return torch.randn(TIME, 5, dtype=torch.float64), torch.randn(TIME, 3, dtype=torch.float64)


def literal(encoder: SpanEncoder, words: tuple[Tensor, Tensor], start: int, width: int) -> Tensor:
    """Section 4 of Lee et al. (2017) for one span."""
    encoded, embedded = words
    inside = slice(start, start + width + 1)
    attention = encoder.head_attention(encoded[inside]).softmax(dim=0)
    head = (attention * embedded[inside]).sum(dim=0)
    width_vector = encoder.width_embedding.weight[width]
    return torch.cat([encoded[start], encoded[start + width], head, width_vector])


def test_span_vectors_concatenate_start_end_head_and_width(
    encoder: SpanEncoder, words: tuple[Tensor, Tensor]
) -> None:
    valid = is_within_sentence(torch.zeros(TIME, dtype=torch.long), MAX_WIDTH)
    spans = Spans(*valid.nonzero().T)
    expected = [literal(encoder, words, start, width) for start, width in valid.nonzero().tolist()]
    found = encoder(*words, encoder.width_vectors(TIME), spans)
    torch.testing.assert_close(found, torch.stack(expected))
    assert encoder.get_output_dim() == len(expected[0])


def test_projecting_all_spans_equals_projecting_their_vectors(
    encoder: SpanEncoder, words: tuple[Tensor, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_encoder, "BLOCK", 4)
    linear = nn.Linear(encoder.get_output_dim(), 6).double()
    blocks = list(encoder.project(*words, encoder.width_vectors(TIME), linear))
    assert [len(block) for block in blocks] == [4, 4, 3]
    projected = torch.cat(blocks)
    for start, width in (
        is_within_sentence(torch.zeros(TIME, dtype=torch.long), MAX_WIDTH).nonzero().tolist()
    ):
        expected = linear(literal(encoder, words, start, width))
        torch.testing.assert_close(projected[start, width], expected)


def test_width_dropout_differs_between_spans_and_agrees_in_vector_and_projection(
    words: tuple[Tensor, Tensor],
) -> None:
    torch.manual_seed(0)
    encoder = SpanEncoder(
        encoded_dim=5, embedded_dim=3, max_width=MAX_WIDTH, width_dim=40, dropout=0.5
    )
    encoder = encoder.double()
    widths = encoder.width_vectors(TIME)
    kept = widths != 0
    assert 0.4 < kept.double().mean() < 0.6
    assert len(kept.flatten(0, 1).unique(dim=0)) == TIME * MAX_WIDTH
    expected = 2 * encoder.width_embedding.weight.expand_as(widths)
    torch.testing.assert_close(widths[kept], expected[kept])
    spans = Spans(torch.tensor([0, 2, 10]), torch.tensor([3, 1, 0]))
    linear = nn.Linear(encoder.get_output_dim(), 6).double()
    projected = torch.cat(list(encoder.project(*words, widths, linear)))
    found = projected[spans.starts, spans.widths]
    torch.testing.assert_close(found, linear(encoder(*words, widths, spans)))


def cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Of spans of first and last word: whether they overlap, and neither is inside of the other."""
    (start, end), (other_start, other_end) = sorted([one, other])
    return start < other_start <= end < other_end


def in_turn(scores: Tensor, valid: Tensor, count: int, may_cross: bool) -> list[tuple[int, int]]:
    """
    Lee et al. (2017) word for word: from the best span on, none that crosses one that was taken.
    """
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
    sentence = torch.tensor(
        [number for number, length in enumerate(lengths) for _ in range(length)]
    )
    values = st.lists(
        st.integers(-6, 6), min_size=len(sentence) * width, max_size=len(sentence) * width
    )
    scores = torch.tensor(draw(values), dtype=torch.float).view(len(sentence), width)
    return scores, is_within_sentence(sentence, width)


@given(grids(), st.integers(1, 40), st.booleans())
def test_the_best_spans_equal_a_greedy_choice_one_by_one(
    grid: tuple[Tensor, Tensor], count: int, may_cross: bool
) -> None:
    scores, valid = grid
    spans = best_spans(scores, valid, count, may_cross)
    assert list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)) == in_turn(
        scores, valid, count, may_cross
    )


def test_spans_do_not_cross_sentences() -> None:
    valid = is_within_sentence(torch.tensor([0, 0, 0, 1, 1]), max_width=3)
    assert valid.int().tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 0]]
