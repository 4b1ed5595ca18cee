"""LSTM layers without gradients, in any precision and with a float32 cell.

One sigmoid serves all four gates, because tanh(x) = 2 sigmoid(2x) - 1 = 1 - 2 sigmoid(-2x); on a
CPU it is also faster than a tanh.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.batching import LstmState, input_gates
from elmo_plugin.bilm.lstm_cell import LayerOutput, LstmLayer
from elmo_plugin.bilm.precision import PackedLinear, Precision
from elmo_plugin.common.process import torch_threads

MANY_STEPS = 1000


class PackedLayers(NamedTuple):
    """Fused weights of one direction, given by its number, or of all of them, `slice(None)`."""

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


def pack_sequential(layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
    """
    Packs weights for one direction after the other, each on all cores: best for large products.
    """
    directions = enumerate(layers)
    return [
        _pack(number, [layer], precision, lambda one: precision.pack(*one))
        for number, layer in directions
    ]


def pack_batched(layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
    """
    Packs weights for all directions in one batched product per time step: on a GPU, and on a CPU if
    products are so small that starting them counts.
    """
    return [_pack(slice(None), layers, precision, precision.pack_directions)]


def _pack(
    directions: int | slice,
    layers: Sequence[LstmLayer],
    precision: Precision,
    pack: Callable[[Sequence[Tensor]], PackedLinear],
) -> PackedLayers:
    fused = [layer.fused_weights() for layer in layers]
    return PackedLayers(
        directions,
        [precision.pack(weights.input_weight, weights.bias) for weights in fused],
        pack([weights.recurrent_weight for weights in fused]),
        pack([weights.projection_weight for weights in fused]),
        layers[0].cell_clip,
        layers[0].proj_clip,
    )


@torch.no_grad()
def run_frozen(
    groups: Sequence[PackedLayers],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    state: LstmState,
    keep_state: bool,
) -> LayerOutput:
    """
    Runs a layer, one group of directions after the other. Nothing in the loop over time waits for
    the device. Many steps of all directions are run by one thread: several wait for one another in
    each product, for milliseconds if other processes need the cores.
    """
    final_hidden, cells = state.hidden.clone(), state.cell.clone()
    outputs = cells.new_empty(len(inputs), len(inputs[0]), final_hidden.size(-1))
    next_sizes = [*batch_sizes, 0][1:]
    for layers in groups:
        which, bound = layers.directions, layers.proj_clip
        is_long = (
            isinstance(which, slice)
            and len(batch_sizes) > MANY_STEPS
            and torch.get_num_threads() > 1
        )
        with (
            torch_threads(1) if is_long else nullcontext(),
            torch.autocast(cells.device.type, enabled=False),
        ):
            gates = input_gates(partial(layers.project, inputs), batch_sizes)
            steps = outputs[which].split(list(batch_sizes), dim=-2)
            cell, hidden, active = cells[which], final_hidden[which], -1
            for added, output, size, next_size in zip(
                gates, steps, batch_sizes, next_sizes, strict=True
            ):
                if size != active:  # in the first step, and where sentences have ended
                    active, hidden, cell = size, hidden[..., :size, :], cell[..., :size, :]
                    activated = torch.empty_like(cell)
                products = layers.recurrent_linear(
                    hidden, added
                )  # Shape: ([directions,] size, 4 * dim)
                parts = products.to(cell.dtype).sigmoid_().chunk(4, dim=-1)
                update_cell_(parts, cell, layers.cell_clip, activated)
                hidden = layers.projection(activated.to(products.dtype)).clamp_(-bound, bound)
                output.copy_(hidden)
                if keep_state and next_size < size:
                    final_hidden[which][..., next_size:size, :] = hidden[..., next_size:, :]
    return list(outputs), LstmState(final_hidden, cells) if keep_state else None


def update_cell_(parts: Sequence[Tensor], cell: Tensor, cell_clip: float, out: Tensor) -> Tensor:
    """
    Updates the cell in place, and writes the projection's input to `out` (also returned), from the
    sigmoids of i, 2j, f and o:

        c = clip(sigmoid(f) * c + sigmoid(i) * tanh(j))
        sigmoid(o) * tanh(c)
    """
    i, j, f, o = parts
    cell.mul_(f).addcmul_(i, j, value=2).sub_(i).clamp_(-cell_clip, cell_clip)
    torch.mul(cell, -2, out=out).sigmoid_()
    return torch.addcmul(o, o, out, value=-2, out=out)
