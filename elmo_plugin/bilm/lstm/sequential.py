"""The recurrence without gradients that runs one direction after the other, each on all cores."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.lstm.layer import LstmLayer, clip_
from elmo_plugin.bilm.lstm.pointwise import lstm_pointwise
from elmo_plugin.bilm.lstm.recurrence import LayerOutput, Recurrence, input_gates, run_each
from elmo_plugin.bilm.lstm.state import LstmState
from elmo_plugin.bilm.precision import PackedLinear, Precision


class PackedLayer(NamedTuple):
    """A layer's packed weights, with the forget bias in the bias and the rows of j doubled."""

    input_linear: PackedLinear
    recurrent_linear: PackedLinear
    projection: PackedLinear
    cell_clip: float | None
    proj_clip: float | None


class SequentialRecurrence(Recurrence):
    """Computes in any precision, with a float32 cell. It suits products large enough to use all cores."""

    name = "sequential"

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayer]:
        return [_pack(layer, precision) for layer in layers]

    def run(
        self,
        packed: Sequence[PackedLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> LayerOutput:
        return run_each(_run, packed, inputs, batch_sizes, states)


def _pack(layer: LstmLayer, precision: Precision) -> PackedLayer:
    input_weight, recurrent_weight, bias, projection_weight = layer.fused_weights()
    precision.check(bias.device)
    return PackedLayer(
        precision.pack(input_weight, bias),
        precision.pack(recurrent_weight, None),
        precision.pack(projection_weight, None),
        layer.cell_clip,
        layer.proj_clip,
    )


def _run(
    layer: PackedLayer, inputs: Tensor, batch_sizes: Sequence[int], state: LstmState
) -> tuple[Tensor, LstmState]:
    final_hidden, cell = state.hidden.clone(), state.cell.clone()
    outputs = inputs.new_empty(len(inputs), final_hidden.size(1))
    steps = zip(
        input_gates(lambda start, stop: layer.input_linear(inputs[start:stop]), batch_sizes),
        outputs.split(list(batch_sizes)),
        batch_sizes,
        [*batch_sizes, 0][1:],
        strict=True,
    )
    hidden = final_hidden[: batch_sizes[0]] if batch_sizes else final_hidden
    for gates, output, rows, next_rows in steps:
        gates = layer.recurrent_linear(hidden, gates)
        activated = lstm_pointwise(gates, cell[:rows], layer.cell_clip)
        hidden = clip_(layer.projection(activated), layer.proj_clip)
        output.copy_(hidden)
        if next_rows < rows:  # sentences that end here
            final_hidden[next_rows:rows] = hidden[next_rows:]
            hidden = hidden[:next_rows]
    return outputs, LstmState(final_hidden, cell)
