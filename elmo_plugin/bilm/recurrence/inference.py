"""The recurrence for a biLM that is not being trained: weights laid out once, arithmetic in place."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.products import Product, prepare_product
from elmo_plugin.bilm.recurrence.layers import FORGET_BIAS, LstmState, ProjectedLstmLayer, Recurrence
from elmo_plugin.bilm.recurrence.pointwise import lstm_pointwise

MAX_PROJECTED_ROWS = 512  # rows whose input projections are in memory at a time


class PreparedLayer(NamedTuple):
    """A layer's weights, laid out, with the forget bias in the bias and the rows of j doubled."""

    input: Product
    recurrent: Product
    projection: Product
    cell_clip: float | None
    proj_clip: float | None


def inference_recurrence(precision: str) -> Recurrence:
    """A `Recurrence` without gradients, in this precision, with a float32 cell. The directions take turns."""

    def run(
        layers: Sequence[ProjectedLstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> tuple[list[Tensor], list[LstmState]]:
        outputs, ends = [], []
        for layer, rows, state in zip(layers, inputs, states, strict=True):
            prepared = layer.laid_out.get(layer.parameters(), precision, partial(prepare, layer, precision))
            output, end = _run(prepared, rows, batch_sizes, state)
            outputs.append(output)
            ends.append(end)
        return outputs, ends

    return run


def prepare(layer: ProjectedLstmLayer, precision: str) -> PreparedLayer:
    input_weight, recurrent_weight, bias = fold(layer)
    return PreparedLayer(
        prepare_product(input_weight, bias, precision),
        prepare_product(recurrent_weight, None, precision),
        prepare_product(layer.projection_weight, None, precision),
        layer.cell_clip,
        layer.proj_clip,
    )


@torch.no_grad()
def fold(layer: ProjectedLstmLayer) -> tuple[Tensor, Tensor, Tensor]:
    """
    Input weight, recurrent weight and bias with what `lstm_pointwise` expects in the gates: the forget bias,
    and twice the new values.
    """
    dim = layer.projection_weight.size(1)
    folded = [layer.input_weight.clone(), layer.recurrent_weight.clone(), layer.bias.clone()]
    folded[2][2 * dim : 3 * dim] += FORGET_BIAS
    for tensor in folded:
        tensor[dim : 2 * dim] *= 2
    return folded[0], folded[1], folded[2]


def _run(
    layer: PreparedLayer, inputs: Tensor, batch_sizes: Sequence[int], state: LstmState
) -> tuple[Tensor, LstmState]:
    hidden, cell = state.hidden.clone(), state.cell.clone()
    outputs = inputs.new_empty(len(inputs), hidden.size(1))
    start = 0
    for sizes in chunks(batch_sizes, MAX_PROJECTED_ROWS):
        projected = layer.input(inputs[start : start + sum(sizes)])
        for input_gates in projected.split(sizes):
            rows = len(input_gates)
            gates = layer.recurrent(hidden[:rows], input_gates)
            activated = lstm_pointwise(gates, cell[:rows], layer.cell_clip)
            hidden[:rows] = _clip_(layer.projection(activated), layer.proj_clip)
            outputs[start : start + rows] = hidden[:rows]
            start += rows
    return outputs, LstmState(hidden, cell)


def chunks(batch_sizes: Sequence[int], max_rows: int) -> Iterator[list[int]]:
    """Cuts the time steps into runs of at most `max_rows` rows, and of at least one time step."""
    run: list[int] = []
    rows = 0
    for size in batch_sizes:
        if run and rows + size > max_rows:
            yield run
            run, rows = [], 0
        run.append(size)
        rows += size
    if run:
        yield run


def _clip_(values: Tensor, bound: float | None) -> Tensor:
    return values.clamp_(-bound, bound) if bound else values
