"""
The recurrence for inference on a GPU: all directions together, four kernels a time step.

Nothing in the loop over time waits for the device. It runs on a CPU, too, for the tests; there it is slow.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.products import check_precision
from elmo_plugin.bilm.recurrence.inference import chunks, fold
from elmo_plugin.bilm.recurrence.layers import LstmState, ProjectedLstmLayer, Recurrence
from elmo_plugin.bilm.recurrence.pointwise import lstm_pointwise
from elmo_plugin.bilm.recurrence.triton_pointwise import triton_is_available, triton_lstm_pointwise

MAX_PROJECTED_ROWS = 2048  # of each direction: with 4096 cells in float32, 256 MiB of gates for both


class StackedLayers(NamedTuple):
    """
    One layer of each direction, laid out and folded as `lstm_pointwise` wants it.

    input_weight: (directions, input_dim, 4 * dim)
    bias: (directions, 1, 4 * dim)
    recurrent_weight: (directions, projection_dim, 4 * dim)
    projection_weight: (directions, dim, projection_dim)
    """

    input_weight: Tensor
    bias: Tensor
    recurrent_weight: Tensor
    projection_weight: Tensor
    cell_clip: float | None
    proj_clip: float | None


def gpu_recurrence(precision: str) -> Recurrence:
    """A `Recurrence` without gradients, in this precision, with a float32 cell. Directions run at once."""

    def run(
        layers: Sequence[ProjectedLstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> tuple[list[Tensor], list[LstmState]]:
        parameters = [parameter for layer in layers for parameter in layer.parameters()]
        make = partial(stack_layers, layers, precision)
        stacked = layers[0].laid_out.get(parameters, ("gpu", precision), make)
        return run_stacked(stacked, inputs, batch_sizes, states)

    return run


def stack_layers(layers: Sequence[ProjectedLstmLayer], precision: str) -> StackedLayers:
    """
    Lays out the layers of one depth, one of each direction; they have the same sizes and clips. Later changes
    of their weights do not reach the result.

    Raises `BiLmError` for the precision "int8", which is for CPUs.
    """
    if check_precision(precision) == "int8":
        raise BiLmError("the precision int8 is for CPUs; on a GPU use float32 or bfloat16")
    dtype = torch.bfloat16 if precision == "bfloat16" else layers[0].bias.dtype

    def stack(tensors: Iterable[Tensor]) -> Tensor:
        return torch.stack([tensor.detach().to(dtype) for tensor in tensors])

    input_weights, recurrent_weights, biases = zip(*(fold(layer) for layer in layers), strict=True)
    # Transposed as views: in memory the numbers that a product sums up stay neighbours.
    return StackedLayers(
        stack(input_weights).transpose(1, 2),
        stack(biases).unsqueeze(1),
        stack(recurrent_weights).transpose(1, 2),
        stack(layer.projection_weight for layer in layers).transpose(1, 2),
        layers[0].cell_clip,
        layers[0].proj_clip,
    )


def run_stacked(
    stacked: StackedLayers,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[LstmState],
) -> tuple[list[Tensor], list[LstmState]]:
    """
    Runs one depth of the stack, without gradients. Whatever the type of the weights, cells are computed in
    the type of the states.

    # Parameters

    stacked : `StackedLayers`
        The layers.
    inputs : `Sequence[Tensor]`
        For each direction the packed rows, shape (N, input_dim).
    batch_sizes : `Sequence[int]`
        The number of rows of each time step, never increasing.
    states : `Sequence[LstmState]`
        For each direction the state before the first time step: hidden (rows, projection_dim) and cell
        (rows, dim), in packed order. They are left as they are.

    # Returns

    `list[Tensor]`
        For each direction the packed outputs, shape (N, projection_dim), of the type of `inputs`.
    `list[LstmState]`
        For each direction the state of each row after its last time step.
    """
    with torch.no_grad(), torch.autocast(states[0].cell.device.type, enabled=False):
        hidden = torch.stack([state.hidden for state in states])  # Shape: (directions, rows, projection_dim)
        cell = torch.stack([state.cell for state in states])  # Shape: (directions, rows, dim)
        outputs = _run(stacked, inputs, batch_sizes, hidden, cell).to(inputs[0].dtype)
    return list(outputs), [LstmState(*state) for state in zip(hidden, cell, strict=True)]


def _run(
    stacked: StackedLayers, inputs: Sequence[Tensor], batch_sizes: Sequence[int], hidden: Tensor, cell: Tensor
) -> Tensor:
    """
    The outputs, shape (directions, N, projection_dim). `hidden` and `cell` become the final states: rows are
    sorted by length, so that the first of them go on, and the others keep what they have.
    """
    pointwise = triton_lstm_pointwise if triton_is_available(cell) else lstm_pointwise
    before = hidden.to(stacked.recurrent_weight.dtype)
    outputs = before.new_empty(len(inputs), inputs[0].size(0), hidden.size(2))
    steps = zip(
        _input_gates(stacked, inputs, batch_sizes),  # each (directions, size, 4 * dim)
        outputs.split(list(batch_sizes), dim=1),  # each (directions, size, projection_dim)
        batch_sizes,
        [*batch_sizes, 0][1:],
        strict=True,
    )
    for gates, output, size, next_size in steps:
        gates.baddbmm_(before[:, :size], stacked.recurrent_weight)
        activated = pointwise(gates, cell[:, :size], stacked.cell_clip)
        torch.bmm(activated, stacked.projection_weight, out=output)
        if stacked.proj_clip:
            output.clamp_(-stacked.proj_clip, stacked.proj_clip)
        if next_size < size:
            hidden[:, next_size:size] = output[:, next_size:]
        before = output
    return outputs


def _input_gates(
    stacked: StackedLayers, inputs: Sequence[Tensor], batch_sizes: Sequence[int]
) -> Iterator[Tensor]:
    """For each time step the part of the gates that comes from the inputs; one product makes many of them."""
    start = 0
    for sizes in chunks(batch_sizes, MAX_PROJECTED_ROWS):
        end = start + sum(sizes)
        rows = torch.stack([direction[start:end] for direction in inputs]).to(stacked.input_weight.dtype)
        yield from torch.baddbmm(stacked.bias, rows, stacked.input_weight).split(sizes, dim=1)
        start = end
