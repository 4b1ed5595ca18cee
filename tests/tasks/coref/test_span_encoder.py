"""Vectors of spans against those that are put together one at a time, in float64."""

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.tasks.coref import span_encoder
from elmo_plugin.tasks.coref.span_encoder import SpanEncoder, Spans, spans_in_sentences

TIME, MAX_WIDTH = 11, 4


@pytest.fixture
def encoder() -> SpanEncoder:
    torch.manual_seed(0)
    return SpanEncoder(encoded_dim=5, embedded_dim=3, max_width=MAX_WIDTH, width_dim=2, dropout=0.0).double()


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


def test_vectors_are_start_end_head_and_width(encoder: SpanEncoder, words: tuple[Tensor, Tensor]) -> None:
    valid = spans_in_sentences(torch.zeros(TIME, dtype=torch.long), MAX_WIDTH)
    spans = Spans(*valid.nonzero().T)
    expected = [literal(encoder, words, start, width) for start, width in valid.nonzero().tolist()]
    found = encoder(*words, encoder.width_vectors(TIME), spans)
    torch.testing.assert_close(found, torch.stack(expected))
    assert encoder.get_output_dim() == len(expected[0])


def test_the_projection_of_all_spans_is_that_of_their_vectors(
    encoder: SpanEncoder, words: tuple[Tensor, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_encoder, "BLOCK", 4)
    linear = nn.Linear(encoder.get_output_dim(), 6).double()
    blocks = list(encoder.project(*words, encoder.width_vectors(TIME), linear))
    assert [len(block) for block in blocks] == [4, 4, 3]
    projected = torch.cat(blocks)
    for start, width in spans_in_sentences(torch.zeros(TIME, dtype=torch.long), MAX_WIDTH).nonzero().tolist():
        expected = linear(literal(encoder, words, start, width))
        torch.testing.assert_close(projected[start, width], expected)


def test_dropout_of_widths_is_another_one_for_each_span_and_the_same_in_its_vector_and_its_projection(
    words: tuple[Tensor, Tensor],
) -> None:
    torch.manual_seed(0)
    encoder = SpanEncoder(encoded_dim=5, embedded_dim=3, max_width=MAX_WIDTH, width_dim=40, dropout=0.5)
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
