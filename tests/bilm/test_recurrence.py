import math

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import LstmOptions
from elmo_plugin.bilm.recurrence import DirectionalLm, LstmState, ProjectedLstmLayer


def _options(**changes) -> LstmOptions:
    return LstmOptions(**{"projection_dim": 4, "dim": 7, "n_layers": 2, **changes})


def _lm(options: LstmOptions, dtype: torch.dtype = torch.double) -> DirectionalLm:
    torch.manual_seed(1)
    lm = DirectionalLm(options).to(dtype)
    for parameter in lm.parameters():
        nn.init.normal_(parameter)
    return lm


def _by_the_book(layer: ProjectedLstmLayer, inputs: Tensor, cell_clip: float, proj_clip: float) -> Tensor:
    """One sentence, cell by cell, in Python floats."""
    n_cells, n_hidden = layer.projection_weight.size(1), layer.projection_weight.size(0)
    cells, hidden, outputs = [0.0] * n_cells, [0.0] * n_hidden, []

    def sigmoid(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    def clip(x: float, bound: float) -> float:
        return max(-bound, min(bound, x))

    weights = torch.cat([layer.input_weight, layer.recurrent_weight], dim=1).tolist()
    for vector in inputs.tolist():
        gates = [
            bias + sum(w * x for w, x in zip(row, vector + hidden, strict=True))
            for row, bias in zip(weights, layer.bias.tolist(), strict=True)
        ]
        i, j, f, o = (gates[k * n_cells : (k + 1) * n_cells] for k in range(4))
        cells = [
            clip(sigmoid(f[n] + 1) * cells[n] + sigmoid(i[n]) * math.tanh(j[n]), cell_clip)
            for n in range(n_cells)
        ]
        out = [sigmoid(o[n]) * math.tanh(cells[n]) for n in range(n_cells)]
        hidden = [
            clip(sum(w * x for w, x in zip(row, out, strict=True)), proj_clip)
            for row in layer.projection_weight.tolist()
        ]
        outputs.append(hidden)
    return torch.tensor(outputs, dtype=torch.double)


@pytest.mark.parametrize(("cell_clip", "proj_clip"), [(None, None), (0.5, None), (None, 0.4), (0.5, 0.4)])
def test_a_layer_follows_the_formulas_with_and_without_clips(
    cell_clip: float | None, proj_clip: float | None
) -> None:
    options = _options(cell_clip=cell_clip, proj_clip=proj_clip)
    layer = _lm(options).layers[0]
    inputs = torch.randn(1, 6, 4, dtype=torch.double)
    zeros = LstmState(torch.zeros(1, 4).double(), torch.zeros(1, 7).double())
    outputs, _ = layer(inputs, None, zeros)
    expected = _by_the_book(layer, inputs[0], cell_clip or math.inf, proj_clip or math.inf)
    torch.testing.assert_close(outputs[0], expected)
    if cell_clip and proj_clip:
        assert (outputs.abs() == proj_clip).any(), "the test never reached the clip"


def test_without_clips_a_layer_is_torchs_lstm_with_projection() -> None:
    layer = _lm(_options(cell_clip=None, proj_clip=None)).layers[0]
    peer = nn.LSTM(4, 7, proj_size=4, batch_first=True).double()

    def to_torch(gates: Tensor) -> Tensor:  # i, j, f, o -> i, f, j, o
        i, j, f, o = gates.chunk(4)
        return torch.cat([i, f, j, o])

    forget_bias = torch.cat([torch.zeros(7), torch.ones(7), torch.zeros(14)]).double()
    with torch.no_grad():
        peer.weight_ih_l0.copy_(to_torch(layer.input_weight))
        peer.weight_hh_l0.copy_(to_torch(layer.recurrent_weight))
        peer.bias_ih_l0.copy_(to_torch(layer.bias))
        peer.bias_hh_l0.copy_(forget_bias)
        peer.weight_hr_l0.copy_(layer.projection_weight)
    inputs = torch.randn(3, 5, 4, dtype=torch.double)
    hidden, cell = torch.randn(3, 4).double(), torch.randn(3, 7).double()
    outputs, state = layer(inputs, None, LstmState(hidden, cell))
    expected, (expected_hidden, expected_cell) = peer(inputs, (hidden[None], cell[None]))
    torch.testing.assert_close(outputs, expected)
    torch.testing.assert_close(state.hidden, expected_hidden[0])
    torch.testing.assert_close(state.cell, expected_cell[0])


@pytest.mark.parametrize("skip", [True, False])
def test_skip_connections_add_a_layers_input_but_not_to_its_state(skip: bool) -> None:
    lm = _lm(_options(use_skip_connections=skip))
    inputs = torch.randn(2, 5, 4, dtype=torch.double)
    outputs, state = lm(inputs)
    zeros = LstmState(torch.zeros(2, 4).double(), torch.zeros(2, 7).double())
    first, first_state = lm.layers[0](inputs, None, zeros)
    second, second_state = lm.layers[1](first, None, zeros)
    torch.testing.assert_close(outputs[0], first)
    torch.testing.assert_close(outputs[1], second + first if skip else second)
    torch.testing.assert_close(state.hidden, torch.stack([first_state.hidden, second_state.hidden]))
    torch.testing.assert_close(state.hidden[1], second[:, -1])


def test_a_text_in_two_parts_with_the_state_between_is_the_text_in_one() -> None:
    lm = _lm(_options())
    inputs = torch.randn(3, 9, 4, dtype=torch.double)
    whole, end = lm(inputs)
    first, state = lm(inputs[:, :4])
    second, end_of_parts = lm(inputs[:, 4:], state=state)
    for layer in range(2):
        torch.testing.assert_close(torch.cat([first[layer], second[layer]], dim=1), whole[layer])
    torch.testing.assert_close(end_of_parts, end)


def test_what_lies_beyond_a_rows_length_changes_neither_output_nor_state() -> None:
    lm = _lm(_options())
    inputs = torch.randn(3, 6, 4, dtype=torch.double)
    lengths = torch.tensor([6, 2, 0])
    outputs, state = lm(inputs, lengths)
    alone, alone_state = lm(inputs[1:2, :2])
    torch.testing.assert_close(outputs[-1][1:2, :2], alone[-1])
    torch.testing.assert_close(state.cell[:, 1:2], alone_state.cell)
    torch.testing.assert_close(state.hidden[:, 1:2], alone_state.hidden)
    assert not state.cell[:, 2].any(), "an empty row keeps its state"


def test_gradients_are_those_of_finite_differences_also_where_clips_are_reached() -> None:
    lm = _lm(LstmOptions(projection_dim=2, dim=3, n_layers=2, cell_clip=0.5, proj_clip=0.4))
    inputs = torch.randn(2, 4, 2, dtype=torch.double, requires_grad=True)
    lengths = torch.tensor([4, 3])
    parameters = list(lm.parameters())

    def function(inputs: Tensor, *_: Tensor) -> Tensor:
        outputs, state = lm(inputs, lengths)
        return torch.cat([output[:, :3].flatten() for output in outputs] + [state.cell.flatten()])

    assert torch.autograd.gradcheck(function, (inputs, *parameters))


def test_dropout_acts_in_training_only() -> None:
    torch.manual_seed(0)
    lm = DirectionalLm(_options(), dropout=0.5)
    inputs = torch.randn(2, 3, 4)
    assert not torch.equal(lm(inputs)[0][-1], lm(inputs)[0][-1])
    lm.eval()
    assert torch.equal(lm(inputs)[0][-1], lm(inputs)[0][-1])


def test_no_time_steps_leave_the_state_as_it_was() -> None:
    lm = _lm(_options())
    start = LstmState(torch.randn(2, 3, 4).double(), torch.randn(2, 3, 7).double())
    outputs, state = lm(torch.zeros(3, 0, 4, dtype=torch.double), state=start)
    assert outputs[-1].shape == (3, 0, 4)
    torch.testing.assert_close(state, start)
