"""LSTM layers without gradients, in any precision and with a float32 cell.

One sigmoid serves all four gates, because tanh(x) = 2 sigmoid(2x) - 1 = 1 - 2 sigmoid(-2x); on a
CPU it is also faster than a tanh.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.batching import LstmState, input_gates
from elmo_plugin.bilm.lstm_cell import LayerOutput, LstmLayer
from elmo_plugin.bilm.precision import PackedLinear, Precision
from elmo_plugin.common.process import can_set_own_threads, run_side_by_side, torch_threads

MANY_STEPS = 1000  # more time steps than this are run by one thread


class PackedLayers(NamedTuple):
    """
    The fused weights of one layer, of a single direction or of all, laid out for fast products.

    directions: the number of the direction, or `slice(None)` for all of them
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
        Returns what the inputs of the packed rows `start:stop` add to the gates, shape
        ([directions,] rows, 4 * dim).
        """
        if isinstance(self.directions, int):
            rows = inputs[self.directions]
            return self.input_linears[0](rows[start:stop])
        products = []
        for linear, rows in zip(self.input_linears, inputs, strict=True):
            products.append(linear(rows[start:stop]))
        return torch.stack(products)


class FrozenRecurrence:
    """
    Runs layers without gradients. The subclasses pack either each direction for itself, or all of
    them together.
    """

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
        """Runs one layer. Nothing in the loop over time waits for the device."""
        # Copies, because the loop overwrites them, and the caller keeps the state before the batch.
        final_hidden = state.hidden.clone()
        final_cell = state.cell.clone()
        outputs = final_cell.new_empty(len(inputs), len(inputs[0]), final_hidden.size(-1))
        is_inference_mode = torch.is_inference_mode_enabled()

        def run_steps(layers: PackedLayers) -> None:
            directions = layers.directions
            # Modes belong to a thread, and this may be a new one, see `run_side_by_side`.
            with (
                torch.inference_mode(is_inference_mode),
                torch.no_grad(),
                torch.autocast(final_cell.device.type, enabled=False),
            ):
                _run_steps(
                    layers,
                    inputs,
                    batch_sizes,
                    outputs[directions],
                    LstmState(final_hidden[directions], final_cell[directions]),
                    keep_state,
                )

        if _can_run_side_by_side(packed, final_cell.device):
            forward, backward = [partial(run_steps, layers) for layers in packed]
            run_side_by_side(forward, backward, threads_each=torch.get_num_threads() // 2)
        else:
            for layers in packed:
                with _threads_for(layers, len(batch_sizes)):
                    run_steps(layers)
        if not keep_state:
            return list(outputs), None
        return list(outputs), LstmState(final_hidden, final_cell)


def _can_run_side_by_side(packed: Sequence[PackedLayers], device: torch.device) -> bool:
    """Returns whether there are two directions, and half of a CPU's threads for each."""
    return (
        len(packed) == 2
        and device.type == "cpu"
        and torch.get_num_threads() % 2 == 0
        and can_set_own_threads()
    )


def _threads_for(layers: PackedLayers, num_steps: int) -> AbstractContextManager[None]:
    """
    Makes a single thread run a long sentence if all directions run at once: several threads would
    wait for one another in each of the many small products, and that takes milliseconds if other
    processes need the cores.
    """
    runs_all_directions = isinstance(layers.directions, slice)
    if runs_all_directions and num_steps > MANY_STEPS and torch.get_num_threads() > 1:
        return torch_threads(1)
    return nullcontext()


class SeparateRecurrence(FrozenRecurrence):
    """
    Runs each direction in products of its own: best for large products. On a CPU with an even
    number of threads the directions run side by side, because threads that share a product wait for
    one another after each of them, and for long if other processes need the cores.
    """

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
        """Packs the weights of each direction for itself."""
        packed = []
        for number, layer in enumerate(layers):
            weights = layer.weights.fused()
            one_direction = PackedLayers(
                directions=number,
                input_linears=[precision.pack(weights.input_weight, weights.bias)],
                recurrent_linear=precision.pack(weights.recurrent_weight),
                projection=precision.pack(weights.projection_weight),
                cell_clip=layer.cell_clip,
                proj_clip=layer.proj_clip,
            )
            packed.append(one_direction)
        return packed


class BatchedRecurrence(FrozenRecurrence):
    """
    Runs all directions in one batched product per time step: on a GPU, and on a CPU if products are
    so small that starting them counts.
    """

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
        """Packs the weights of all directions together."""
        input_linears = []
        recurrent_weights = []
        projection_weights = []
        for layer in layers:
            weights = layer.weights.fused()
            input_linears.append(precision.pack(weights.input_weight, weights.bias))
            recurrent_weights.append(weights.recurrent_weight)
            projection_weights.append(weights.projection_weight)
        all_directions = PackedLayers(
            directions=slice(None),
            input_linears=input_linears,
            recurrent_linear=precision.pack_directions(recurrent_weights),
            projection=precision.pack_directions(projection_weights),
            cell_clip=layers[0].cell_clip,
            proj_clip=layers[0].proj_clip,
        )
        return [all_directions]


def _run_steps(
    layers: PackedLayers,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    outputs: Tensor,
    state: LstmState,
    keep_state: bool,
) -> None:
    """
    Runs one direction, or all directions together, over all time steps. It writes the hidden states
    to `outputs`, shape ([directions,] rows, projection_dim).

    `state` is the state before the first step, of shapes ([directions,] sentences, ...). Its cell
    is overwritten with the final one, and so is its hidden state if `keep_state`.
    """
    bound = layers.proj_clip
    gates = input_gates(partial(layers.project, inputs), batch_sizes)
    steps = outputs.split(list(batch_sizes), dim=-2)
    # The number of sentences that continue after each time step: none after the last one.
    next_sizes = [*batch_sizes, 0][1:]
    hidden = state.hidden
    cell = state.cell
    previous_size = -1  # no step has this size
    for added, output, size, next_size in zip(gates, steps, batch_sizes, next_sizes, strict=True):
        if size != previous_size:  # in the first step, and where sentences have ended
            previous_size = size
            hidden = hidden[..., :size, :]
            cell = cell[..., :size, :]
            activated = torch.empty_like(cell)
        products = layers.recurrent_linear(hidden, added)  # Shape: ([directions,] size, 4 * dim)
        gates_of_step = products.to(cell.dtype).sigmoid_().chunk(4, dim=-1)
        update_cell_(gates_of_step, cell, layers.cell_clip, activated)
        hidden = layers.projection(activated.to(products.dtype)).clamp_(-bound, bound)
        output.copy_(hidden)  # Shape: ([directions,] size, projection_dim)
        if keep_state and next_size < size:  # the sentences from `next_size` on end here
            state.hidden[..., next_size:size, :] = hidden[..., next_size:, :]


def update_cell_(gates: Sequence[Tensor], cell: Tensor, cell_clip: float, out: Tensor) -> Tensor:
    """
    Updates the cell in place, and writes the projection's input to `out`, and returns that:

        c = clip(sigmoid(f) * c + sigmoid(i) * tanh(j))
        out = sigmoid(o) * tanh(c)

    The `gates` are sigmoids already: of i, 2j, f and o.
    """
    i, j, f, o = gates
    # tanh(j) is 2 sigmoid(2j) - 1, so the new part of the cell is 2 i j - i.
    cell.mul_(f).addcmul_(i, j, value=2).sub_(i).clamp_(-cell_clip, cell_clip)
    # tanh(c) is 1 - 2 sigmoid(-2c), so the output is o - 2 o sigmoid(-2c).
    torch.mul(cell, -2, out=out).sigmoid_()
    return torch.addcmul(o, o, out, value=-2, out=out)
