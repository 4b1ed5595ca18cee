"""LSTM layers without gradients: two recurrences, in any precision and with a float32 cell.

One sigmoid serves all four gates, because tanh(x) = 2 sigmoid(2x) - 1 = 1 - 2 sigmoid(-2x); on a CPU it is
also faster than a tanh.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.batching import LstmState, input_gates
from elmo_plugin.bilm.lstm_cell import LayerInput, LayerOutput, LstmLayer
from elmo_plugin.bilm.precision import PackedDirections, PackedLinear, Precision
from elmo_plugin.common.process import torch_threads

MANY_STEPS = 1000


class PackedLayers(NamedTuple):
    """
    Fused weights of one direction, or of all; `dtype` is the type of hidden states and outputs.
    """

    input_linears: list[PackedLinear]
    recurrent_linear: PackedLinear | PackedDirections
    projection: PackedLinear | PackedDirections
    cell_clip: float
    proj_clip: float
    dtype: torch.dtype


def pack_sequential(layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
    return [_pack([layer], precision, lambda weights: precision.pack(*weights)) for layer in layers]


def pack_batched(layers: Sequence[LstmLayer], precision: Precision) -> PackedLayers:
    return _pack(layers, precision, precision.pack_directions)


def _pack(
    layers: Sequence[LstmLayer],
    precision: Precision,
    pack: Callable[[Sequence[Tensor]], PackedLinear | PackedDirections],
) -> PackedLayers:
    fused = [layer.fused_weights() for layer in layers]
    return PackedLayers(
        [precision.pack(weights.input_weight, weights.bias) for weights in fused],
        pack([weights.recurrent_weight for weights in fused]),
        pack([weights.projection_weight for weights in fused]),
        layers[0].cell_clip,
        layers[0].proj_clip,
        precision.activation_dtype(fused[0].bias),
    )


def run_sequential(layers: Sequence[PackedLayers], given: LayerInput) -> LayerOutput:
    """Runs one direction after the other, each on all cores: best for large products."""
    inputs, batch_sizes, state, keep_state = given
    outputs = [rows.new_empty(len(rows), state.hidden.size(-1)) for rows in inputs]
    final_hidden, cells = state.hidden.clone(), state.cell.clone()
    for direction, layer in enumerate(layers):
        hidden, cell, rows = final_hidden[direction], cells[direction], inputs[direction]
        (linear,), bound = layer.input_linears, layer.proj_clip
        gates = input_gates(lambda start, stop: linear(rows[start:stop]), batch_sizes)  # noqa: B023
        steps = outputs[direction].split(list(batch_sizes))
        hidden = hidden[: batch_sizes[0]] if batch_sizes else hidden
        next_sizes = [*batch_sizes, 0][1:]
        for added, output, size, next_size in zip(gates, steps, batch_sizes, next_sizes, strict=True):
            products = layer.recurrent_linear(hidden, added)  # Shape: (size, 4 * dim)
            parts = products.to(cell.dtype).sigmoid_().chunk(4, dim=-1)
            activated = update_cell_(parts, cell[:size], layer.cell_clip, torch.empty_like(cell[:size]))
            hidden = layer.projection(activated.to(products.dtype)).clamp_(-bound, bound)
            output.copy_(hidden)
            if next_size < size:  # some sentences end here
                if keep_state:
                    final_hidden[direction, next_size:size] = hidden[next_size:]
                hidden = hidden[:next_size]
    return outputs, LstmState(final_hidden, cells) if keep_state else None


@torch.no_grad()
def run_batched(layers: PackedLayers, given: LayerInput) -> LayerOutput:
    """
    Runs all directions in one batched product per time step: on a GPU, and on a CPU if products are so small
    that starting them counts. Nothing in the loop over time waits for the device. Many steps are run by one
    thread: several wait for one another in each product, for milliseconds if other processes need the cores.
    """
    inputs, batch_sizes, state, keep_state = given
    is_long = len(batch_sizes) > MANY_STEPS and torch.get_num_threads() > 1
    threads = torch_threads(1) if is_long else nullcontext()
    with threads, torch.autocast(state.cell.device.type, enabled=False):
        hidden, cell = state.hidden.clone(), state.cell.clone()
        outputs = hidden.new_empty(len(inputs), len(inputs[0]), hidden.size(2), dtype=layers.dtype)

        def project(start: int, stop: int) -> Tensor:
            directions = zip(layers.input_linears, inputs, strict=True)
            return torch.stack([linear(rows[start:stop]) for linear, rows in directions])

        gates = input_gates(project, batch_sizes)  # each (directions, size, 4 * dim)
        steps = outputs.split(list(batch_sizes), dim=1)  # each (directions, size, projection_dim)
        step, before = None, hidden
        next_sizes = [*batch_sizes, 0][1:]
        for added, output, size, next_size in zip(gates, steps, batch_sizes, next_sizes, strict=True):
            if step is None:
                step = _BatchedStep(layers, before[:, :size], cell[:, :size])
            step(added, output)
            if next_size < size:
                if keep_state:
                    hidden[:, next_size:size] = output[:, next_size:]
                step, before = None, output
        results = list(outputs.to(inputs[0].dtype))
    return results, LstmState(hidden, cell) if keep_state else None


class _BatchedStep:
    """
    A time step of a fixed number of rows: memory and views are made once for several time steps. The cell
    changes in place. (An output with gaps, as `output` has, would be computed elsewhere first.)
    """

    def __init__(self, layers: PackedLayers, hidden: Tensor, cell: Tensor) -> None:
        self._layers, self._cell = layers, cell
        self._hidden = hidden.to(layers.dtype, copy=True, memory_format=torch.contiguous_format)
        self._gates = cell.new_empty(*cell.shape[:-1], 4 * cell.size(-1))
        self._parts = self._gates.chunk(4, dim=-1)
        self._activated = torch.empty_like(cell)

    def __call__(self, gates: Tensor, output: Tensor) -> None:
        """
        Writes the hidden state to `output`, shape (directions, rows, projection_dim), given the inputs' part
        of the gates, shape (directions, rows, 4 * dim).
        """
        layers = self._layers
        layers.recurrent_linear(self._hidden, out=self._gates, added=gates)
        self._gates.sigmoid_()
        activated = update_cell_(self._parts, self._cell, layers.cell_clip, self._activated)
        layers.projection(activated, out=self._hidden)
        output.copy_(self._hidden.clamp_(-layers.proj_clip, layers.proj_clip))


def update_cell_(parts: Sequence[Tensor], cell: Tensor, cell_clip: float, out: Tensor) -> Tensor:
    """
    Updates the cell in place, and writes the projection's input to `out` (also returned), from the sigmoids
    of i, 2j, f and o:

        c = clip(sigmoid(f) * c + sigmoid(i) * tanh(j))
        sigmoid(o) * tanh(c)
    """
    i, j, f, o = parts
    cell.mul_(f).addcmul_(i, j, value=2).sub_(i).clamp_(-cell_clip, cell_clip)
    torch.mul(cell, -2, out=out).sigmoid_()
    return torch.addcmul(o, o, out, value=-2, out=out)
