"""The LSTM's formulas, step by step: the oracle of the fast recurrences, by the name "reference"."""

from collections.abc import Sequence

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm import RECURRENCES
from elmo_plugin.bilm.lstm_cell import FORGET_BIAS, LayerOutput, LstmLayer
from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.bilm.precision import Precision


class ReferenceRecurrence:
    """Runs the formulas in plain, differentiable operations."""

    has_gradients = True

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> Sequence[LstmLayer]:
        return layers

    def run(
        self,
        packed: Sequence[LstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        state: LstmState,
        keep_state: bool,
    ) -> LayerOutput:
        return run_reference(packed, inputs, batch_sizes, state)


def run_reference(
    layers: Sequence[LstmLayer],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    state: LstmState,
) -> LayerOutput:
    outputs, states = [], []
    for layer, rows, hidden, cell in zip(layers, inputs, *state, strict=True):
        direction_outputs = [rows.new_zeros(0, hidden.size(1))]
        input_weight, recurrent_weight, bias, projection_weight = layer.weights
        for step in rows.split(list(batch_sizes)):
            size = len(step)
            gates = step @ input_weight.t() + hidden[:size] @ recurrent_weight.t() + bias
            i, j, f, o = gates.chunk(4, dim=1)
            new_cell = torch.sigmoid(f + FORGET_BIAS) * cell[:size] + torch.sigmoid(i) * torch.tanh(
                j
            )
            new_cell = new_cell.clamp(-layer.cell_clip, layer.cell_clip)
            new_hidden = (torch.sigmoid(o) * torch.tanh(new_cell)) @ projection_weight.t()
            new_hidden = new_hidden.clamp(-layer.proj_clip, layer.proj_clip)
            hidden = torch.cat([new_hidden, hidden[size:]])
            cell = torch.cat([new_cell, cell[size:]])
            direction_outputs.append(new_hidden)
        outputs.append(torch.cat(direction_outputs))
        states.append((hidden, cell))
    return outputs, LstmState(*map(torch.stack, zip(*states, strict=True)))


RECURRENCES["reference"] = ReferenceRecurrence()
