"""The recurrence as its formulas say it. Every faster one is tested against this one."""

from collections.abc import Sequence

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import FORGET_BIAS, LstmLayer, LstmWeights, clip
from elmo_plugin.bilm.lstm.recurrence import DifferentiableRecurrence, LayerOutput, Workload, run_each
from elmo_plugin.bilm.lstm.state import LstmState
from elmo_plugin.bilm.precision import Precision


class ReferenceRecurrence(DifferentiableRecurrence):
    """Consists of plain, differentiable operations on the layers' own parameters."""

    name = "reference"

    def is_fastest(self, work: Workload, precision: Precision) -> bool:
        return False

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
        new_hidden, new_cell = _step(layer, weights, step, hidden[:rows], cell[:rows])
        hidden = torch.cat([new_hidden, hidden[rows:]])
        cell = torch.cat([new_cell, cell[rows:]])
        outputs.append(new_hidden)
    if not outputs:
        return inputs.new_zeros(0, hidden.size(1)), state
    return torch.cat(outputs), LstmState(hidden, cell)


def _step(
    layer: LstmLayer, weights: LstmWeights, inputs: Tensor, hidden: Tensor, cell: Tensor
) -> tuple[Tensor, Tensor]:
    gates = inputs @ weights.input_weight.t() + hidden @ weights.recurrent_weight.t() + weights.bias
    input_gate, new, forget_gate, output_gate = gates.chunk(4, dim=1)
    cell = torch.sigmoid(forget_gate + FORGET_BIAS) * cell + torch.sigmoid(input_gate) * torch.tanh(new)
    cell = clip(cell, layer.cell_clip)
    hidden = (torch.sigmoid(output_gate) * torch.tanh(cell)) @ weights.projection_weight.t()
    return clip(hidden, layer.proj_clip), cell
