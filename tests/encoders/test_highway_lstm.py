"""The highway LSTM against AllenNLP's `alternating_lstm`: vectors, gradients, dropout and weights."""

from functools import partial
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import StackedAlternatingLstmSeq2SeqEncoder
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.encoders.highway_lstm import HighwayLstm
from tests.conftest import at_most

INPUT_SIZE, HIDDEN_SIZE = 5, 4
LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=5)
BATCHES = [[3, 1, 0, 5, 3], [4, 4, 4], [1], [0, 2]]


def mask_of(lengths: list[int], time: int | None = None) -> Tensor:
    return torch.arange(max(lengths) if time is None else time) < torch.tensor(lengths)[:, None]


def encoder_with(num_layers: int = 2, recurrent_dropout: float = 0.0) -> HighwayLstm:
    torch.manual_seed(0)
    encoder = HighwayLstm(INPUT_SIZE, HIDDEN_SIZE, num_layers, recurrent_dropout=recurrent_dropout)
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.5)
    return encoder


def peer_of(encoder: HighwayLstm) -> StackedAlternatingLstmSeq2SeqEncoder:
    """Returns AllenNLP's encoder with the weights of ours."""
    first = encoder.layers[0]
    peer = StackedAlternatingLstmSeq2SeqEncoder(
        encoder.get_input_dim(),
        encoder.get_output_dim(),
        len(encoder.layers),
        recurrent_dropout_probability=first.recurrent_dropout,
        use_input_projection_bias=False,
    )
    peer.load_state_dict(
        {
            f"_module.layer_{name.removeprefix('layers.').replace('.', '.cell.', 1)}": value
            for name, value in encoder.state_dict().items()
        }
    )
    return peer.to(first.state_linearity.weight.dtype)


def values_and_gradients(encoder: nn.Module, inputs: Tensor, mask: Tensor) -> list[Tensor | None]:
    """Returns the vectors and the gradients of a random loss, that of the inputs first."""
    inputs = inputs.clone().requires_grad_()
    outputs = encoder(inputs, mask)
    (
        outputs * torch.linspace(-1, 2, outputs.numel(), dtype=outputs.dtype).view_as(outputs)
    ).sum().backward()
    return [outputs.detach(), inputs.grad, *(parameter.grad for parameter in encoder.parameters())]


def assert_equals_peer(
    encoder: HighwayLstm, lengths: list[int], time: int, tolerance: float
) -> None:
    """
    Expects the vectors of AllenNLP's encoder, and its gradients of the inputs and of all
    parameters.
    """
    mask = mask_of(lengths, time)
    inputs = torch.randn(*mask.shape, INPUT_SIZE, dtype=next(encoder.parameters()).dtype)
    expected = values_and_gradients(peer_of(encoder), inputs, mask)
    found = values_and_gradients(encoder, inputs, mask)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@at_most(12)
@given(lengths=LENGTHS.filter(any), num_layers=st.integers(1, 5), extra_time=st.integers(0, 2))
def test_vectors_and_gradients_equal_alternating_lstm(
    lengths: list[int], num_layers: int, extra_time: int
) -> None:
    encoder = encoder_with(num_layers).double()
    assert_equals_peer(encoder, lengths, max(lengths) + extra_time, 1e-12)


def with_masked_outputs(
    peer: StackedAlternatingLstmSeq2SeqEncoder, masks: list[Tensor], inputs: Tensor, mask: Tensor
) -> Tensor:
    """
    Returns what AllenNLP's cells give with each output times a mask before anything sees it, as in
    equation 13 of He et al. (2017). `masks` has a row for each length of a sentence.
    """
    rows = []
    for sentence, length in zip(inputs, mask.sum(dim=1).tolist(), strict=True):
        vectors = list(sentence[:length].unsqueeze(1))
        for layer, of_length in zip(peer._module.lstm_layers, masks, strict=True):
            state, outputs = (torch.zeros(1, HIDDEN_SIZE).to(inputs),) * 2, []
            for vector in vectors if layer.go_forward else reversed(vectors):
                output, memory = layer.cell(vector, state)
                state = output * of_length[length], memory
                outputs.append(state[0])
            vectors = outputs if layer.go_forward else outputs[::-1]
        padding = inputs.new_zeros(mask.size(1) - length, HIDDEN_SIZE)
        rows.append(torch.cat([*vectors, padding]))
    return torch.stack(rows)


@pytest.mark.parametrize("lengths", BATCHES)
def test_recurrent_dropout_follows_the_paper_in_cells_of_alternating_lstm(
    lengths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Each layer draws a mask with a row for each sentence that has words, the longest first.
    Sentences of one length may be in any order, so they have the same mask here.
    """
    drawn: list[Tensor] = []
    words = sorted(filter(None, lengths), reverse=True)

    def draw(ones: Tensor, rate: float) -> Tensor:
        assert rate == 0.5 and ones.shape == (len(words), HIDDEN_SIZE)
        drawn.append(2.0 * torch.randint(2, (max(words) + 1, HIDDEN_SIZE)).to(ones))
        return drawn[-1][words]

    monkeypatch.setattr(nn.functional, "dropout", draw)
    encoder, mask = encoder_with(3, recurrent_dropout=0.5).double(), mask_of(lengths)
    inputs = torch.randn(*mask.shape, INPUT_SIZE, dtype=torch.double)
    found = values_and_gradients(encoder, inputs, mask)
    peer = peer_of(encoder)
    monkeypatch.setattr(peer, "forward", partial(with_masked_outputs, peer, drawn))
    torch.testing.assert_close(
        found, values_and_gradients(peer, inputs, mask), rtol=1e-12, atol=1e-12
    )
    assert len(drawn) == 3


@pytest.mark.parametrize("prefix", ["", "encoder."])
def test_weights_of_alternating_lstm_load_by_their_names(prefix: str) -> None:
    torch.manual_seed(0)
    peer = StackedAlternatingLstmSeq2SeqEncoder(
        INPUT_SIZE, HIDDEN_SIZE, num_layers=11, use_input_projection_bias=False
    )
    ours = encoder_with(11)
    state = {f"{prefix}{name}": value for name, value in peer.state_dict().items()}
    (nn.ModuleDict({"encoder": ours}) if prefix else ours).load_state_dict(state)
    inputs, mask = torch.randn(2, 3, INPUT_SIZE), mask_of([2, 3])
    torch.testing.assert_close(ours(inputs, mask), peer(inputs, mask))


def test_initial_weights_equal_alternating_lstm() -> None:
    torch.manual_seed(0)
    ours = HighwayLstm(INPUT_SIZE, HIDDEN_SIZE, 2)
    torch.manual_seed(0)
    peer = StackedAlternatingLstmSeq2SeqEncoder(
        INPUT_SIZE, HIDDEN_SIZE, 2, use_input_projection_bias=False
    )
    for found, expected in zip(ours.parameters(), peer.parameters(), strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_rounds_only_products(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, mask = encoder_with(), mask_of([2, 3])
    inputs = torch.randn(2, 3, INPUT_SIZE).to(dtype)
    expected = values_and_gradients(encoder, inputs.float(), mask)
    encoder.zero_grad()
    autocast = torch.autocast("cpu", dtype=torch.bfloat16)
    monkeypatch.setattr(encoder, "forward", autocast(encoder.forward))
    found = values_and_gradients(encoder, inputs, mask)
    assert [each.dtype for each in found] == [
        torch.float32,
        dtype,
        *[torch.float32] * (len(found) - 2),
    ]
    for rounded, exact in zip(found, expected, strict=True):
        torch.testing.assert_close(
            rounded.float(), exact, rtol=0.03, atol=0.03 * exact.abs().max().item()
        )
    assert not torch.equal(found[0], expected[0]), "no product was rounded"


@pytest.mark.parametrize(
    ("option", "value"),
    [("num_layers", 0), ("hidden_size", 0), ("recurrent_dropout", 1.5), ("recurrent_dropout", -1)],
)
def test_impossible_sizes_and_rates_are_refused_at_once(option: str, value: float) -> None:
    options: dict[str, Any] = {"input_size": 3, "hidden_size": 2, "num_layers": 1, option: value}
    with pytest.raises(ConfigurationError, match=f"highway_lstm: {option}: expected "):
        HighwayLstm(**options)
