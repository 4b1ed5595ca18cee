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

from elmo_plugin.bilm.lstm_cell import LayerOutput, LstmLayer
from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.bilm.packing import input_gates
from elmo_plugin.bilm.precision import Precision
from elmo_plugin.bilm.products import PackedLinear
from elmo_plugin.common.process import can_set_own_threads, run_side_by_side, torch_threads

MANY_STEPS = 1000  # more time steps than this are run by one thread


class PackedLayers(NamedTuple):
    """
    The weights of one layer, of a single direction or of all directions, laid out for fast
    products. Constants are folded into them, see `LstmWeights.with_folded_constants`.

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

    def gates_from_inputs(self, inputs: Sequence[Tensor], start: int, stop: int) -> Tensor:
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
        """Runs one layer."""
        # Copies: the loop over time overwrites them, and `state` must not change.
        final_hidden = state.hidden.clone()
        final_cell = state.cell.clone()
        outputs = final_cell.new_empty(len(inputs), len(inputs[0]), final_hidden.size(-1))
        is_inference_mode = torch.is_inference_mode_enabled()

        def run_layers(layers: PackedLayers) -> None:
            directions = layers.directions
            # `run_side_by_side` may call this in a new thread, and new threads begin with torch's
            # default modes.
            with (
                torch.inference_mode(is_inference_mode),
                torch.no_grad(),
                torch.autocast(final_cell.device.type, enabled=False),
            ):
                _run_time_steps(
                    layers,
                    inputs,
                    batch_sizes,
                    outputs[directions],
                    LstmState(final_hidden[directions], final_cell[directions]),
                    keep_state,
                )

        if _can_run_side_by_side(packed, final_cell.device):
            forward, backward = [partial(run_layers, layers) for layers in packed]
            run_side_by_side(forward, backward, threads_each=torch.get_num_threads() // 2)
        else:
            for layers in packed:
                with _single_thread_if_long(layers, len(batch_sizes)):
                    run_layers(layers)
        if not keep_state:
            return list(outputs), None
        return list(outputs), LstmState(final_hidden, final_cell)


def _can_run_side_by_side(packed: Sequence[PackedLayers], device: torch.device) -> bool:
    """
    Returns whether two directions can run at the same time on a CPU, each with half of the threads.
    """
    if len(packed) != 2 or device.type != "cpu":
        return False
    has_two_halves = torch.get_num_threads() % 2 == 0
    return has_two_halves and can_set_own_threads()


def _single_thread_if_long(layers: PackedLayers, num_steps: int) -> AbstractContextManager[None]:
    """
    Makes a single thread compute if all directions run together over a long sentence. Each of its
    many time steps has small products, and several threads would wait for one another after each of
    them. Such a wait takes milliseconds if other processes need the cores.
    """
    runs_all_directions = isinstance(layers.directions, slice)
    if runs_all_directions and num_steps > MANY_STEPS and torch.get_num_threads() > 1:
        return torch_threads(1)
    return nullcontext()


class SeparateRecurrence(FrozenRecurrence):
    """
    Runs each direction in products of its own: best for large products. On a CPU with an even
    number of threads, the two directions run side by side, each with half of the threads: the fewer
    threads share a product, the less they wait for one another after it. Such waits are long if
    other processes need the cores.
    """

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
        """Packs the weights of each direction for itself."""
        packed = []
        for number, layer in enumerate(layers):
            weights = layer.weights.with_folded_constants()
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
    Runs all directions in one batched product per time step: best on a GPU, and on a CPU for
    products so small that starting them takes a large part of the time.
    """

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> list[PackedLayers]:
        """Packs the weights of all directions together."""
        input_linears = []
        recurrent_weights = []
        projection_weights = []
        for layer in layers:
            weights = layer.weights.with_folded_constants()
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


def _run_time_steps(
    layers: PackedLayers,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    outputs: Tensor,
    state: LstmState,
    keep_state: bool,
) -> None:
    """
    Runs one direction, or all directions together, over all time steps. It writes the hidden states
    to `outputs`, shape ([directions,] rows, projection_dim). The loop never waits for a GPU.

    `state` is the state before the first step, of shapes ([directions,] sentences, ...). Its cell
    is overwritten with the final one, and so is its hidden state if `keep_state`.
    """
    bound = layers.proj_clip
    # The part of the gates that comes from the inputs of each time step
    inputs_of_steps = input_gates(partial(layers.gates_from_inputs, inputs), batch_sizes)
    output_of_step = outputs.split(list(batch_sizes), dim=-2)
    hidden = state.hidden
    cell = state.cell
    activated = torch.empty_like(cell)
    for step, from_inputs in enumerate(inputs_of_steps):
        size = batch_sizes[step]
        if size < cell.size(-2):  # sentences have ended, or have no words at all
            hidden = hidden[..., :size, :]
            cell = cell[..., :size, :]
            activated = torch.empty_like(cell)
        # Shape: ([directions,] size, 4 * dim)
        products = layers.recurrent_linear(hidden, from_inputs)
        gates = products.to(cell.dtype).sigmoid_().chunk(4, dim=-1)
        _update_cell(gates, cell, layers.cell_clip, out=activated)
        hidden = layers.projection(activated.to(products.dtype)).clamp_(-bound, bound)
        output_of_step[step].copy_(hidden)  # Shape: ([directions,] size, projection_dim)
        is_last_step = step == len(batch_sizes) - 1
        next_size = 0 if is_last_step else batch_sizes[step + 1]
        if keep_state and next_size < size:  # the sentences from `next_size` on end here
            state.hidden[..., next_size:size, :] = hidden[..., next_size:, :]


def _update_cell(gates: Sequence[Tensor], cell: Tensor, cell_clip: float, out: Tensor) -> None:
    """
    Updates the cell in place, and writes the input of the projection to `out`:

        c = clip(sigmoid(f) * c + sigmoid(i) * tanh(j))
        out = sigmoid(o) * tanh(c)

    The `gates` are sigmoids already: of i, 2j, f and o.
    """
    i, j, f, o = gates
    # tanh(j) is 2 sigmoid(2j) - 1, so the new part of the cell is 2 i j - i.
    cell.mul_(f).addcmul_(i, j, value=2).sub_(i).clamp_(-cell_clip, cell_clip)
    # tanh(c) is 1 - 2 sigmoid(-2c), so the output is o - 2 o sigmoid(-2c).
    torch.mul(cell, -2, out=out).sigmoid_()
    torch.addcmul(o, o, out, value=-2, out=out)
