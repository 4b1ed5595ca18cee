"""The recurrence written as its formulas. Every faster one is tested against it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import LstmLayer, lstm_step
from elmo_plugin.bilm.lstm.recurrence import DifferentiableRecurrence, LayerOutput, run_each
from elmo_plugin.bilm.lstm.state import LstmState


class ReferenceRecurrence(DifferentiableRecurrence):
    """Consists of plain, differentiable operations on the layers' own parameters."""

    name = "reference"

    def run(
        self,
        packed: Sequence[LstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> LayerOutput:
        return run_each(_run, packed, inputs, batch_sizes, states)


def _run(
    layer: LstmLayer, inputs: Tensor, batch_sizes: Sequence[int], state: LstmState
) -> tuple[Tensor, LstmState]:
    hidden, cell = state
    weights = layer.weights
    outputs = []
    for step in inputs.split(list(batch_sizes)):
        rows = len(step)
        gates = step @ weights.input_weight.t() + hidden[:rows] @ weights.recurrent_weight.t() + weights.bias
        new_hidden, new_cell = lstm_step(gates, cell[:rows], weights.projection_weight, layer)
        hidden = torch.cat([new_hidden, hidden[rows:]])
        cell = torch.cat([new_cell, cell[rows:]])
        outputs.append(new_hidden)
    if not outputs:
        return inputs.new_zeros(0, hidden.size(1)), state
    return torch.cat(outputs), LstmState(hidden, cell)
