"""
The recurrence without gradients that runs all directions in one batched product a time step: on a GPU, and on
a CPU where products are so small that starting them counts. Nothing in the loop over time waits for the
device.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import LstmLayer, clip_
from elmo_plugin.bilm.lstm.pointwise import InPlacePointwise
from elmo_plugin.bilm.lstm.recurrence import LayerOutput, Recurrence, input_gates
from elmo_plugin.bilm.lstm.state import LstmState
from elmo_plugin.bilm.precision import PackedDirections, PackedLinear, Precision


class PackedLayers(NamedTuple):
    """
    A layer of each direction, of the same sizes and clips, with fused weights.

    input_linear: one product a direction
    recurrent_linear, projection: one product for all directions
    dtype: the type of hidden states and outputs
    """

    input_linear: list[PackedLinear]
    recurrent_linear: PackedDirections
    projection: PackedDirections
    cell_clip: float | None
    proj_clip: float | None
    dtype: torch.dtype


class BatchedDirectionsRecurrence(Recurrence):
    """Computes in any precision, with a float32 cell."""

    name = "batched_directions"

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> PackedLayers:
        fused = [layer.fused_weights() for layer in layers]
        precision.check(fused[0].bias.device)
        return PackedLayers(
            [precision.pack(of_layer.input_weight, of_layer.bias) for of_layer in fused],
            precision.pack_directions([of_layer.recurrent_weight for of_layer in fused]),
            precision.pack_directions([of_layer.projection_weight for of_layer in fused]),
            layers[0].cell_clip,
            layers[0].proj_clip,
            precision.activation_dtype(fused[0].bias),
        )

    def run(
        self,
        packed: PackedLayers,
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> LayerOutput:
        with torch.no_grad(), torch.autocast(states[0].cell.device.type, enabled=False):
            hidden = torch.stack([state.hidden for state in states])  # Shape: (directions, rows, projection)
            cell = torch.stack([state.cell for state in states])  # Shape: (directions, rows, dim)
            outputs = _run(packed, inputs, batch_sizes, hidden, cell).to(inputs[0].dtype)
        return list(outputs), [LstmState(*state) for state in zip(hidden, cell, strict=True)]


def _run(
    layers: PackedLayers,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    hidden: Tensor,
    cell: Tensor,
) -> Tensor:
    """
    Returns the outputs, shape (directions, N, projection_dim). `hidden` and `cell` become the final states:
    rows are sorted by length, so that the first of them continue, and the others keep what they have.
    """
    outputs = hidden.new_empty(len(inputs), len(inputs[0]), hidden.size(2), dtype=layers.dtype)

    def project(start: int, stop: int) -> Tensor:
        rows = zip(layers.input_linear, inputs, strict=True)
        return torch.stack([linear(direction[start:stop]) for linear, direction in rows])

    steps = zip(
        input_gates(project, batch_sizes),  # each (directions, size, 4 * dim)
        outputs.split(list(batch_sizes), dim=1),  # each (directions, size, projection_dim)
        batch_sizes,
        [*batch_sizes, 0][1:],
        strict=True,
    )
    step, before = None, hidden
    for gates, output, size, next_size in steps:
        if step is None:
            step = _Step(layers, before[:, :size], cell[:, :size])
        step(gates, output)
        if next_size < size:
            hidden[:, next_size:size] = output[:, next_size:]
            step, before = None, output
    return outputs


class _Step:
    """
    A time step of a fixed number of rows, which is written to the same memory each time. The cell changes in
    place. (An output with gaps, as `output` has, would be computed elsewhere first.)
    """

    def __init__(self, layers: PackedLayers, hidden: Tensor, cell: Tensor) -> None:
        self._layers = layers
        self._hidden = hidden.to(layers.dtype, copy=True, memory_format=torch.contiguous_format)
        self._pointwise = InPlacePointwise(cell, layers.cell_clip)

    def __call__(self, gates: Tensor, output: Tensor) -> None:
        """
        # Parameters

        gates : `Tensor`
            Shape (directions, rows, 4 * dim), the part that comes from the inputs.
        output : `Tensor`
            Shape (directions, rows, projection_dim). It gets the new hidden state.
        """
        self._layers.recurrent_linear(self._hidden, out=self._pointwise.gates, added=gates)
        self._layers.projection(self._pointwise(), out=self._hidden)
        output.copy_(clip_(self._hidden, self._layers.proj_clip))
