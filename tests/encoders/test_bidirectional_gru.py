"""The bidirectional GRU against AllenNLP's, which is torch's: vectors, gradients and weights."""

import pytest
import torch
from allennlp.modules import Seq2SeqEncoder
from allennlp.modules.seq2seq_encoders import GruSeq2SeqEncoder
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.encoders.bidirectional_gru import BidirectionalGru
from elmo_plugin.encoders.gru_recurrence import GruRecurrence

INPUT_SIZE, HIDDEN_SIZE = 5, 4
LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=5)


def mask_of(lengths: list[int], time: int) -> Tensor:
    return torch.arange(time) < torch.tensor(lengths)[:, None]


def encoder_and_peer(dtype: torch.dtype) -> tuple[BidirectionalGru, GruSeq2SeqEncoder]:
    """Returns our encoder and AllenNLP's with the same weights."""
    torch.manual_seed(0)
    encoder = BidirectionalGru(INPUT_SIZE, HIDDEN_SIZE).to(dtype)
    peer = GruSeq2SeqEncoder(INPUT_SIZE, HIDDEN_SIZE, bidirectional=True).to(dtype)
    peer.load_state_dict(encoder.state_dict())
    return encoder, peer


def values_and_gradients(encoder: nn.Module, inputs: Tensor, mask: Tensor) -> list[Tensor | None]:
    """Returns the vectors, and the gradients of a loss that differs in all of them, the inputs' first."""
    inputs = inputs.clone().requires_grad_()
    outputs = encoder(inputs, mask)
    (outputs * torch.linspace(-1, 2, outputs.numel(), dtype=outputs.dtype).view_as(outputs)).sum().backward()
    return [outputs.detach(), inputs.grad, *(parameter.grad for parameter in encoder.parameters())]


@settings(deadline=None, max_examples=40)
@given(lengths=LENGTHS.filter(any), extra_time=st.integers(0, 2))
def test_vectors_and_gradients_are_those_of_allennlps_gru(lengths: list[int], extra_time: int) -> None:
    encoder, peer = encoder_and_peer(torch.float64)
    mask = mask_of(lengths, max(lengths) + extra_time)
    inputs = torch.randn(*mask.shape, INPUT_SIZE, dtype=torch.float64)
    expected = values_and_gradients(peer, inputs, mask)
    found = values_and_gradients(encoder, inputs, mask)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


def test_it_is_the_same_in_float32_with_many_cells() -> None:
    torch.manual_seed(0)
    encoder = BidirectionalGru(60, 50)
    peer = GruSeq2SeqEncoder(60, 50, bidirectional=True)
    peer.load_state_dict(encoder.state_dict())
    mask = mask_of([30, 7, 80, 1], 80)
    inputs = torch.randn(*mask.shape, 60)
    torch.testing.assert_close(encoder(inputs, mask), peer(inputs, mask), rtol=1e-4, atol=1e-5)


def test_the_gradient_of_the_recurrence_is_that_of_finite_differences() -> None:
    torch.manual_seed(0)
    given = [torch.randn(2, *shape, dtype=torch.float64) for shape in [(7, 9), (9, 3), (9,)]]
    inputs = [tensor.requires_grad_() for tensor in given]
    assert torch.autograd.gradcheck(lambda *tensors: GruRecurrence.apply(*tensors, [3, 2, 2]), inputs)


@pytest.mark.parametrize("lengths", [[0, 0], [0]])
def test_a_batch_without_words_is_zeros(lengths: list[int]) -> None:
    outputs = BidirectionalGru(INPUT_SIZE, HIDDEN_SIZE)(
        torch.randn(len(lengths), 3, INPUT_SIZE), mask_of(lengths, 3)
    )
    assert outputs.shape == (len(lengths), 3, 2 * HIDDEN_SIZE)
    assert not outputs.any()


def test_what_stands_in_the_padding_changes_nothing() -> None:
    encoder, _ = encoder_and_peer(torch.float32)
    mask = mask_of([2, 5], 6)
    inputs = torch.randn(2, 6, INPUT_SIZE)
    assert torch.equal(encoder(inputs, mask), encoder(inputs.masked_fill(~mask.unsqueeze(-1), 100), mask))


def test_autocast_leaves_it_in_the_type_of_its_parameters() -> None:
    encoder, _ = encoder_and_peer(torch.float32)
    mask, inputs = mask_of([2, 3], 3), torch.randn(2, 3, INPUT_SIZE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = encoder(inputs, mask)
    assert torch.equal(outputs, encoder(inputs, mask))


def test_it_is_built_by_its_name() -> None:
    encoder = Seq2SeqEncoder.by_name("bidirectional_gru")(input_size=3, hidden_size=2)
    assert (encoder.get_input_dim(), encoder.get_output_dim(), encoder.is_bidirectional()) == (3, 4, True)
