"""The recurrence without gradients on a CPU: one direction after the other, weights laid out once."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.packing import cut_by_rows
from elmo_plugin.bilm.products import Product, prepare_product
from elmo_plugin.bilm.recurrence.layers import LstmState, ProjectedLstmLayer, Recurrence
from elmo_plugin.bilm.recurrence.pointwise import lstm_pointwise
from elmo_plugin.bilm.recurrence.steps import clip_

MAX_PROJECTED_ROWS = 512  # rows whose input projections are in memory at a time


class PreparedLayer(NamedTuple):
    """A layer's weights, laid out, with the forget bias in the bias and the rows of j doubled."""

    input: Product
    recurrent: Product
    projection: Product
    cell_clip: float | None
    proj_clip: float | None


def in_turn(precision: str) -> Recurrence:
    """
    A `Recurrence` without gradients, in this precision, with a float32 cell. Each direction uses all cores in
    its turn.
    """

    def run(
        layers: Sequence[ProjectedLstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> tuple[list[Tensor], list[LstmState]]:
        outputs, ends = [], []
        for layer, rows, state in zip(layers, inputs, states, strict=True):
            prepared = layer.laid_out.get(layer.weights, precision, partial(_prepare, layer, precision))
            output, end = _run(prepared, rows, batch_sizes, state)
            outputs.append(output)
            ends.append(end)
        return outputs, ends

    return run


def _prepare(layer: ProjectedLstmLayer, precision: str) -> PreparedLayer:
    input_weight, recurrent_weight, bias = layer.folded()
    return PreparedLayer(
        prepare_product(input_weight, bias, precision),
        prepare_product(recurrent_weight, None, precision),
        prepare_product(layer.projection_weight, None, precision),
        layer.cell_clip,
        layer.proj_clip,
    )


def _run(
    layer: PreparedLayer, inputs: Tensor, batch_sizes: Sequence[int], state: LstmState
) -> tuple[Tensor, LstmState]:
    final_hidden, cell = state.hidden.clone(), state.cell.clone()
    outputs = inputs.new_empty(len(inputs), final_hidden.size(1))
    steps = zip(
        _input_gates(layer.input, inputs, batch_sizes),
        outputs.split(list(batch_sizes)),
        batch_sizes,
        [*batch_sizes, 0][1:],
        strict=True,
    )
    hidden = final_hidden[: batch_sizes[0]] if batch_sizes else final_hidden
    for input_gates, output, rows, next_rows in steps:
        gates = layer.recurrent(hidden, input_gates)
        activated = lstm_pointwise(gates, cell[:rows], layer.cell_clip)
        hidden = clip_(layer.projection(activated), layer.proj_clip)
        output.copy_(hidden)
        if next_rows < rows:  # sentences that end here
            final_hidden[next_rows:rows] = hidden[next_rows:]
            hidden = hidden[:next_rows]
    return outputs, LstmState(final_hidden, cell)


def _input_gates(product: Product, inputs: Tensor, batch_sizes: Sequence[int]) -> Iterator[Tensor]:
    """For each time step the part of the gates that comes from the inputs; one product makes many of them."""
    start = 0
    for sizes in cut_by_rows(batch_sizes, MAX_PROJECTED_ROWS):
        stop = start + sum(sizes)
        yield from product(inputs[start:stop]).split(sizes)
        start = stop
