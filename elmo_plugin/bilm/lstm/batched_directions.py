"""
The recurrence without gradients that runs all directions together, in one batched product a time step: on a
GPU, where a time step is four kernels, and on a CPU where products are so small that starting them counts.

Nothing in the loop over time waits for the device.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import LstmState, ProjectedLstmLayer, Recurrence
from elmo_plugin.bilm.lstm.steps import BatchedWeights, Directions, Int8Weights, Weights, input_gates
from elmo_plugin.bilm.precision import Product, prepare_product


class StackedLayers(NamedTuple):
    """
    One layer of each direction, laid out and folded as `lstm_pointwise` wants it.

    input: one product a direction
    weights: of the time steps
    dtype: of gates and outputs
    """

    input: list[Product]
    weights: Weights
    dtype: torch.dtype


def together(precision: str) -> Recurrence:
    """A `Recurrence` without gradients, in this precision, with a float32 cell."""

    def run(
        layers: Sequence[ProjectedLstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> tuple[list[Tensor], list[LstmState]]:
        weights = [weight for layer in layers for weight in layer.weights]
        make = partial(stack_layers, layers, precision)
        stacked = layers[0].laid_out.get(weights, ("together", precision), make)
        return run_stacked(stacked, inputs, batch_sizes, states)

    return run


def stack_layers(layers: Sequence[ProjectedLstmLayer], precision: str) -> StackedLayers:
    """
    Lays out the layers of one depth, one of each direction; they have the same sizes and clips. Later changes
    of their weights do not reach the result.
    """
    input_weights, recurrent_weights, biases = zip(*(layer.folded() for layer in layers), strict=True)
    projection_weights = [layer.projection_weight.detach() for layer in layers]
    directions = Directions(recurrent_weights, projection_weights, layers[0].cell_clip, layers[0].proj_clip)
    dtype = torch.bfloat16 if precision == "bfloat16" else biases[0].dtype
    return StackedLayers(
        [
            prepare_product(weight, bias, precision)
            for weight, bias in zip(input_weights, biases, strict=True)
        ],
        Int8Weights(directions) if precision == "int8" else BatchedWeights(directions, dtype),
        dtype,
    )


def run_stacked(
    stacked: StackedLayers,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[LstmState],
) -> tuple[list[Tensor], list[LstmState]]:
    """
    Runs one depth of the stack, without gradients: see `Recurrence`. Whatever the type of the weights, cells
    are computed in the type of the states, and outputs have the type of `inputs`.
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
    outputs = hidden.new_empty(len(inputs), len(inputs[0]), hidden.size(2), dtype=stacked.dtype)

    def project(start: int, stop: int) -> Tensor:
        rows = zip(stacked.input, inputs, strict=True)
        return torch.stack([product(direction[start:stop]) for product, direction in rows])

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
            step = stacked.weights.step(before[:, :size], cell[:, :size])
        step(gates, output)
        if next_size < size:
            hidden[:, next_size:size] = output[:, next_size:]
            step, before = None, output
    return outputs
