"""LSTM layers with gradients: one autograd function a layer, its gradient by hand.

Under autocast, products are computed in autocast's type; gates and cells stay in the parameters'
type.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from elmo_plugin.bilm.autograd import first_derivative_only
from elmo_plugin.bilm.batching import LstmState, input_gates, last_rows, rows_before
from elmo_plugin.bilm.lstm_cell import FORGET_BIAS, LayerOutput, LstmLayer
from elmo_plugin.bilm.precision import (
    PackedLinear,
    Precision,
    autocast_dtype,
    pack_for_training,
    torch_linear,
)


class TrainingRecurrence:
    """
    Computes gradients of inputs, state and parameters. On a GPU, where starting an operation is
    slow, all directions run as one batch; on a CPU they run one after the other, to fit into its
    cache.
    """

    has_gradients = True

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> Sequence[LstmLayer]:
        """Returns the layers unchanged: with gradients, the parameters themselves are used."""
        return layers

    def run(
        self,
        packed: Sequence[LstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        state: LstmState,
        keep_state: bool,
    ) -> LayerOutput:
        """Runs the directions together or one by one, and puts their results together."""
        directions_at_a_time = 1
        if _run_as_one_batch(inputs):
            directions_at_a_time = len(packed)
        outputs: list[Tensor] = []
        final_hidden = []
        final_cell = []
        for start in range(0, len(packed), directions_at_a_time):
            directions = slice(start, start + directions_at_a_time)
            layers = packed[directions]
            hidden, last_hidden, last_cell = _ProjectedLstm.apply(
                _stack(inputs[directions]),
                state.hidden[directions],
                state.cell[directions],
                _stack([layer.input_weight for layer in layers]),
                _stack([layer.recurrent_weight for layer in layers]),
                _stack([layer.bias for layer in layers]),
                _stack([layer.projection_weight for layer in layers]),
                list(batch_sizes),
                layers[0].cell_clip,
                layers[0].proj_clip,
            )
            outputs += hidden
            final_hidden.append(last_hidden)
            final_cell.append(last_cell)
        if not keep_state:
            return outputs, None
        return outputs, LstmState(torch.cat(final_hidden), torch.cat(final_cell))


def _run_as_one_batch(inputs: Sequence[Tensor]) -> bool:
    """Returns whether all directions run together, as is faster on a GPU."""
    return inputs[0].is_cuda


def _stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stacks the tensors of the directions; a single one is not copied."""
    if len(tensors) == 1:
        return tensors[0].unsqueeze(0)
    return torch.stack(tuple(tensors))


class _ProjectedLstm(Function):
    """
    Computes one layer, of one direction or of several at once.

    The forward pass saves the clipped cells and hidden states, and the sigmoids of i, 2j, f, o and
    -2c. The backward pass computes everything else from them by products and sums. Its results for
    a time step stay in the processor's cache; it keeps only three things for all time steps,
    in the type of products: the gradients of the gates and of the hidden states, and the inputs of
    the projection.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        first_hidden: Tensor,
        first_cell: Tensor,
        input_weight: Tensor,
        recurrent_weight: Tensor,
        bias: Tensor,
        projection_weight: Tensor,
        batch_sizes: list[int],
        cell_clip: float,
        proj_clip: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """
        Returns the outputs, shape (directions, rows, projection_dim), and the last hidden state and
        cell of each sentence.

        `inputs` are packed, shape (directions, rows, input_dim). The weights are
        `LstmLayer`'s, with the directions as an additional first dimension.
        """
        dim = first_cell.size(-1)
        dtype = autocast_dtype(input_weight)
        input_weight = _double_candidate_gate(input_weight)
        recurrent_weight = _double_candidate_gate(recurrent_weight)
        bias = _double_candidate_gate(bias)
        bias[:, 2 * dim : 3 * dim] += FORGET_BIAS
        bias = bias[:, None].to(dtype)  # Shape: (directions, 1, 4 * dim)
        input_linear = _pack_weights(input_weight, dtype)
        recurrent_linear = _pack_weights(recurrent_weight, dtype)
        project = _pack_weights(projection_weight, dtype)
        rows = inputs.shape[:2]
        all_gates = inputs.new_empty(*rows, 4 * dim)
        cells = inputs.new_empty(*rows, dim)
        cell_sigmoids = inputs.new_empty(*rows, dim)
        hiddens = inputs.new_empty(*rows, first_hidden.size(-1))
        hidden = first_hidden
        cell = first_cell

        def gates_from_inputs(start: int, stop: int) -> Tensor:
            return input_linear(inputs[:, start:stop]).add_(bias)

        from_inputs = input_gates(gates_from_inputs, batch_sizes)
        for step, size, added in zip(_steps(batch_sizes), batch_sizes, from_inputs, strict=True):
            gates = all_gates[:, step]  # Shape: (directions, size, 4 * dim)
            cell_sigmoid = cell_sigmoids[:, step]
            products = recurrent_linear(hidden[:, :size], added)
            torch.sigmoid(products.to(gates.dtype), out=gates)
            i, j, f, o = gates.chunk(4, dim=-1)
            # c = clip(f * c + i * (2 j - 1)), in which 2 j - 1 is a tanh
            cell = torch.mul(cell[:, :size], f, out=cells[:, step])
            cell.addcmul_(i, j, value=2).sub_(i).clamp_(-cell_clip, cell_clip)
            # o * tanh(c) = o * (1 - 2 sigmoid(-2c))
            torch.mul(cell, -2, out=cell_sigmoid).sigmoid_()
            activated = torch.addcmul(o, o, cell_sigmoid, value=-2)
            hiddens[:, step] = project(activated)
            hidden = hiddens[:, step].clamp_(-proj_clip, proj_clip)
        ctx.save_for_backward(
            inputs,
            first_hidden,
            first_cell,
            input_weight,
            recurrent_weight,
            projection_weight,
            all_gates,
            cells,
            cell_sigmoids,
            hiddens,
        )
        ctx.batch_sizes = batch_sizes
        ctx.cell_clip = cell_clip
        ctx.proj_clip = proj_clip
        ctx.dtype = dtype
        final_hidden = last_rows(hiddens, batch_sizes, first_hidden)
        final_cell = last_rows(cells, batch_sizes, first_cell)
        return hiddens, final_hidden, final_cell

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_outputs: Tensor, d_hidden: Tensor, d_cell: Tensor
    ) -> tuple[Tensor | None, ...]:
        (
            inputs,
            first_hidden,
            first_cell,
            input_weight,
            recurrent_weight,
            projection_weight,
            all_gates,
            cells,
            cell_sigmoids,
            hiddens,
        ) = ctx.saved_tensors
        recurrent_linear = _pack_weights(recurrent_weight.transpose(1, 2), ctx.dtype)
        project = _pack_weights(projection_weight.transpose(1, 2), ctx.dtype)
        d_hidden = d_hidden.clone()
        d_cell = d_cell.clone()
        d_all_gates = torch.empty_like(all_gates, dtype=ctx.dtype)
        activated = torch.empty_like(cells, dtype=ctx.dtype)
        d_hiddens = torch.empty_like(hiddens, dtype=ctx.dtype)
        d_step_gates = torch.empty_like(all_gates[:, : max(ctx.batch_sizes, default=0)])
        d_bias = all_gates.new_zeros(len(all_gates), all_gates.size(-1))
        steps = _steps(ctx.batch_sizes)
        for number in reversed(range(len(steps))):
            step = steps[number]
            cell_before = first_cell
            if number > 0:
                cell_before = cells[:, steps[number - 1]]
            size = step.stop - step.start
            gates = all_gates[:, step]  # Shape: (directions, size, 4 * dim)
            cell_sigmoid = cell_sigmoids[:, step]
            d_gates = d_step_gates[:, :size]
            i, j, f, o = gates.chunk(4, dim=-1)
            d_i, d_j, d_f, d_o = d_gates.chunk(4, dim=-1)
            # Back through the projection, to its input o * (1 - 2 cell_sigmoid).
            d_clipped = d_outputs[:, step] + d_hidden[:, :size]
            d_hiddens[:, step] = _unclip(d_clipped, hiddens[:, step], ctx.proj_clip)
            activated[:, step] = torch.addcmul(o, o, cell_sigmoid, value=-2)
            d_activated = project(d_hiddens[:, step]).to(o.dtype)
            torch.addcmul(d_activated, d_activated, cell_sigmoid, value=-2, out=d_o)
            # Back to the cell: the factor of -2 before cell_sigmoid, times the -2 in it, is 4.
            d_tanh = torch.ops.aten.sigmoid_backward(d_activated.mul_(o), cell_sigmoid)
            d_clipped_cell = d_cell[:, :size].add_(d_tanh, alpha=4)
            d_now = _unclip(d_clipped_cell, cells[:, step], ctx.cell_clip)
            # Back to what the cell is made of, f * c + i * (2 j - 1).
            torch.mul(d_now, cell_before[:, :size], out=d_f)
            doubled = d_now + d_now
            torch.mul(doubled, i, out=d_j)
            torch.mul(doubled, j, out=d_i).sub_(d_now)
            torch.mul(d_now, f, out=d_cell[:, :size])
            # Back through the sigmoids of all gates, and to the hidden state before.
            torch.ops.aten.sigmoid_backward.grad_input(d_gates, gates, grad_input=d_gates)
            d_bias += d_gates.sum(dim=1)
            d_all_gates[:, step] = d_gates
            d_hidden[:, :size] = recurrent_linear(d_all_gates[:, step])
        # `needs_input_grad` has the order of `forward`'s arguments: the inputs, the first hidden
        # state and cell, the four parameters.
        needs_inputs = ctx.needs_input_grad[0]
        needs_parameters = any(ctx.needs_input_grad[3:7])
        d_inputs = None
        d_input_weight = None
        d_recurrent_weight = None
        d_projection_weight = None
        if needs_inputs:
            to_inputs = _pack_weights(input_weight.transpose(1, 2), ctx.dtype)
            d_inputs = to_inputs(d_all_gates).to(inputs.dtype)
        if needs_parameters:
            hiddens_before = rows_before(hiddens, ctx.batch_sizes, first_hidden)
            d_input_weight, d_recurrent_weight = _gradients_of_gate_weights(
                d_all_gates, inputs, hiddens_before
            )
            d_projection_weight = _sum_of_outer(d_hiddens, activated).to(inputs.dtype)
        # `forward` doubled the candidate gate's bias, so its gradient is doubled as well.
        d_given_bias = _double_candidate_gate(d_bias)
        return (
            d_inputs,
            d_hidden,
            d_cell,
            d_input_weight,
            d_recurrent_weight,
            d_given_bias,
            d_projection_weight,
            None,
            None,
            None,
        )


def _gradients_of_gate_weights(
    d_gates: Tensor, inputs: Tensor, hiddens_before: Tensor
) -> tuple[Tensor, Tensor]:
    """
    Returns the gradients of the input weight and of the recurrent weight. Both multiply into the
    same gates, so one product, of the type of `d_gates`, has the gradients of both.
    """
    dtype = d_gates.dtype
    factors = torch.cat([inputs.to(dtype), hiddens_before.to(dtype)], dim=-1)
    d_doubled_weights = _sum_of_outer(d_gates, factors).to(inputs.dtype)
    d_weights = _double_candidate_gate(d_doubled_weights)
    sizes = [inputs.size(-1), hiddens_before.size(-1)]
    d_input_weight, d_recurrent_weight = d_weights.split(sizes, dim=-1)
    return d_input_weight, d_recurrent_weight


def _pack_weights(weights: Tensor, dtype: torch.dtype) -> PackedLinear:
    """
    Returns a function that multiplies by the weight of each direction. `weights` has the shape
    (directions, outputs, inputs).
    """
    if len(weights) > 1:
        return torch_linear(weights.to(dtype).transpose(1, 2).contiguous())
    product = pack_for_training(weights[0], dtype)

    def product_of_one_direction(rows: Tensor, added: Tensor | None = None) -> Tensor:
        """Returns the product, plus `added`, with the dimension of the only direction."""
        if added is None:
            return product(rows[0]).unsqueeze(0)
        return product(rows[0], added[0]).unsqueeze(0)

    return product_of_one_direction


def _sum_of_outer(left: Tensor, right: Tensor) -> Tensor:
    """
    Returns, for each direction, the sum over rows of the outer products of `left` and `right`.
    """
    if len(left) == 1:  # a batched product is slower on a CPU
        return torch.mm(left[0].t(), right[0]).unsqueeze(0)
    return torch.bmm(left.transpose(1, 2), right)


def _double_candidate_gate(tensor: Tensor) -> Tensor:
    """Returns a copy in which the rows of the gate j, the second of the four gates, are doubled."""
    doubled = tensor.clone()
    _, candidate_rows, _, _ = doubled.chunk(4, dim=1)
    candidate_rows.mul_(2)
    return doubled


def _steps(batch_sizes: Sequence[int]) -> list[slice]:
    """Returns the rows of each time step."""
    starts = accumulate(batch_sizes, initial=0)  # and the end of the last step, not used here
    return [slice(start, start + size) for start, size in zip(starts, batch_sizes, strict=False)]


def _unclip(gradient: Tensor, clipped: Tensor, bound: float) -> Tensor:
    """Returns the gradient of a value before it was clipped, given the clipped value's gradient."""
    return torch.ops.aten.hardtanh_backward(gradient, clipped, -bound, bound)
