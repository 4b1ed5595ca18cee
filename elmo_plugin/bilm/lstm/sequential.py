"""The recurrence without gradients on a CPU: one direction after the other, weights laid out once."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.lstm.layer import (
    LstmState,
    ProjectedLstmLayer,
    Recurrence,
    clip_,
    each_by_itself,
)
from elmo_plugin.bilm.lstm.pointwise import lstm_pointwise
from elmo_plugin.bilm.lstm.steps import input_gates
from elmo_plugin.bilm.precision import Product, prepare_product


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
        layer: ProjectedLstmLayer, inputs: Tensor, batch_sizes: Sequence[int], state: LstmState
    ) -> tuple[Tensor, LstmState]:
        prepared = layer.laid_out.get(layer.weights, precision, partial(_prepare, layer, precision))
        return _run(prepared, inputs, batch_sizes, state)

    return each_by_itself(run)


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
        input_gates(lambda start, stop: layer.input(inputs[start:stop]), batch_sizes),
        outputs.split(list(batch_sizes)),
        batch_sizes,
        [*batch_sizes, 0][1:],
        strict=True,
    )
    hidden = final_hidden[: batch_sizes[0]] if batch_sizes else final_hidden
    for gates, output, rows, next_rows in steps:
        gates = layer.recurrent(hidden, gates)
        activated = lstm_pointwise(gates, cell[:rows], layer.cell_clip)
        hidden = clip_(layer.projection(activated), layer.proj_clip)
        output.copy_(hidden)
        if next_rows < rows:  # sentences that end here
            final_hidden[next_rows:rows] = hidden[next_rows:]
            hidden = hidden[:next_rows]
    return outputs, LstmState(final_hidden, cell)
