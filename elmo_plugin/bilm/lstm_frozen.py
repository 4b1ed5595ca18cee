"""LSTM layers without gradients, in any precision and with a float32 cell.

One sigmoid serves all four gates, because tanh(x) = 2 sigmoid(2x) - 1 = 1 - 2 sigmoid(-2x); on a
CPU it is also faster than a tanh.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.batching import LstmState, input_gates
from elmo_plugin.bilm.lstm_cell import LayerOutput, LstmLayer
from elmo_plugin.bilm.precision import PackedLinear, Precision
from elmo_plugin.common.process import torch_threads

MANY_STEPS = 1000  # more time steps than this are run by one thread


class PackedLayers(NamedTuple):
    """
    Fused weights of one layer, laid out for fast products.

    directions: the number of the direction that they belong to, or `slice(None)` for all of them
    input_linears: one for each of these directions
    recurrent_linear, projection: one product for all of these directions
    cell_clip, proj_clip: see `LstmLayer`
    """

    directions: int | slice
    input_linears: list[PackedLinear]
    recurrent_linear: PackedLinear
    projection: PackedLinear
    cell_clip: float
    proj_clip: float

    def project(self, inputs: Sequence[Tensor], start: int, stop: int) -> Tensor:
        """
        Returns the inputs' part of the gates of packed rows, shape ([directions,] rows, 4 * dim).
        """
        if isinstance(self.directions, int):
            return self.input_linears[0](inputs[self.directions][start:stop])
        directions = zip(self.input_linears, inputs, strict=True)
        return torch.stack([linear(rows[start:stop]) for linear, rows in directions])


class FrozenRecurrence:
    """Runs layers without gradients, one group of directions after the other."""

    has_gradients = False

    @torch.no_grad()
    def run(
        self,
        packed: Sequence[PackedLayers],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        state: LstmState,
        keep_state: bool,
    ) -> LayerOutput:
        """
        Nothing in the loop over time waits for the device. Many steps of all directions are run by
        one thread: several wait for one another in each product, for milliseconds if other
        processes need the cores.
        """
        final_hidden = state.hidden.clone()
        final_cell = state.cell.clone()
        outputs = final_cell.new_empty(len(inputs), len(inputs[0]), final_hidden.size(-1))
        for layers in packed:
            which = layers.directions
            runs_all = isinstance(which, slice)
            is_long = runs_all and len(batch_sizes) > MANY_STEPS and torch.get_num_threads() > 1
            with (
                torch_threads(1) if is_long else nullcontext(),
                torch.autocast(final_cell.device.type, enabled=False),
            ):
                _run_steps(
                    layers,
                    inputs,
                    batch_sizes,
                    outputs[which],
                    LstmState(final_hidden[which], final_cell[which]),
                    keep_state,
                )
        if not keep_state:
            return list(outputs), None
        return list(outputs), LstmState(final_hidden, final_cell)


class SequentialRecurrence(FrozenRecurrence):
    """Runs one direction after the other, each on all cores: best for large products."""

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
        groups = []
        for number, layer in enumerate(layers):
            weights = layer.fused_weights()
            group = PackedLayers(
                directions=number,
                input_linears=[precision.pack(weights.input_weight, weights.bias)],
                recurrent_linear=precision.pack(weights.recurrent_weight),
                projection=precision.pack(weights.projection_weight),
                cell_clip=layer.cell_clip,
                proj_clip=layer.proj_clip,
            )
            groups.append(group)
        return groups


class BatchedRecurrence(FrozenRecurrence):
    """
    Runs all directions in one batched product per time step: on a GPU, and on a CPU if products are
    so small that starting them counts.
    """

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
        fused = [layer.fused_weights() for layer in layers]
        group = PackedLayers(
            directions=slice(None),
            input_linears=[precision.pack(each.input_weight, each.bias) for each in fused],
            recurrent_linear=precision.pack_directions([each.recurrent_weight for each in fused]),
            projection=precision.pack_directions([each.projection_weight for each in fused]),
            cell_clip=layers[0].cell_clip,
            proj_clip=layers[0].proj_clip,
        )
        return [group]


def _run_steps(
    layers: PackedLayers,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    outputs: Tensor,
    state: LstmState,
    keep_state: bool,
) -> None:
    """
    Runs a group of directions over all time steps, and writes the hidden states to `outputs`, shape
    ([directions,] rows, projection_dim). `state` is before the first step, shape ([directions,]
    sentences, dim). Its cell becomes the final one in place, and so does its hidden state if
    `keep_state`.
    """
    bound = layers.proj_clip
    gates = input_gates(partial(layers.project, inputs), batch_sizes)
    steps = outputs.split(list(batch_sizes), dim=-2)
    next_sizes = [*batch_sizes, 0][1:]
    hidden = state.hidden
    cell = state.cell
    active = -1
    for added, output, size, next_size in zip(gates, steps, batch_sizes, next_sizes, strict=True):
        if size != active:  # in the first step, and where sentences have ended
            active = size
            hidden = hidden[..., :size, :]
            cell = cell[..., :size, :]
            activated = torch.empty_like(cell)
        products = layers.recurrent_linear(hidden, added)  # Shape: ([directions,] size, 4 * dim)
        gates_of_step = products.to(cell.dtype).sigmoid_().chunk(4, dim=-1)
        update_cell_(gates_of_step, cell, layers.cell_clip, activated)
        hidden = layers.projection(activated.to(products.dtype)).clamp_(-bound, bound)
        output.copy_(hidden)  # Shape: ([directions,] size, projection_dim)
        if keep_state and next_size < size:
            state.hidden[..., next_size:size, :] = hidden[..., next_size:, :]


def update_cell_(gates: Sequence[Tensor], cell: Tensor, cell_clip: float, out: Tensor) -> Tensor:
    """
    Updates the cell in place, and writes the projection's input to `out` (also returned), from the
    sigmoids of i, 2j, f and o:

        c = clip(sigmoid(f) * c + sigmoid(i) * tanh(j))
        sigmoid(o) * tanh(c)
    """
    i, j, f, o = gates
    cell.mul_(f).addcmul_(i, j, value=2).sub_(i).clamp_(-cell_clip, cell_clip)
    torch.mul(cell, -2, out=out).sigmoid_()
    return torch.addcmul(o, o, out, value=-2, out=out)
