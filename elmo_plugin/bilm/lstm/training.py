"""
The recurrence for a biLM that is being trained: one autograd function a layer, its gradient by hand.

Under autocast, products are computed in autocast's type; gates and cells stay in the parameters' type.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from elmo_plugin.bilm.gradients import first_derivative_only
from elmo_plugin.bilm.lstm.layer import FORGET_BIAS, LstmLayer, clip
from elmo_plugin.bilm.lstm.recurrence import DifferentiableRecurrence, LayerOutput, input_gates
from elmo_plugin.bilm.lstm.state import LstmState
from elmo_plugin.bilm.packing import rows_before
from elmo_plugin.bilm.precision import PackedLinear, autocast_dtype, pack_for_training


class TrainingRecurrence(DifferentiableRecurrence):
    """
    Computes gradients of inputs, states and parameters. On a GPU, where starting an operation is slow, all
    directions run as one batch; on a CPU they run one after the other, to fit into its cache.
    """

    name = "training"

    def run(
        self,
        packed: Sequence[LstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> LayerOutput:
        size = len(packed) if _run_as_one_batch(inputs) else 1
        outputs: list[Tensor] = []
        final_states: list[LstmState] = []
        for start in range(0, len(packed), size):
            numbers = range(start, start + size)
            tensors = [(inputs[number], *states[number], *packed[number].weights) for number in numbers]
            stacked = map(_stack, zip(*tensors, strict=True))
            clips = packed[start].cell_clip, packed[start].proj_clip
            output, hidden, cell = _ProjectedLstm.apply(*stacked, list(batch_sizes), *clips)
            outputs += output
            final_states += map(LstmState, hidden, cell)
        return outputs, final_states


def _run_as_one_batch(inputs: Sequence[Tensor]) -> bool:
    return inputs[0].is_cuda


def _stack(parts: Sequence[Tensor]) -> Tensor:
    """Stacks the tensors; a single one is not copied."""
    return torch.stack(tuple(parts)) if len(parts) > 1 else parts[0].unsqueeze(0)


class _ProjectedLstm(Function):
    """
    One layer of some directions.

    It saves the sigmoids of i, 2j, f, o and -2c for the backward pass, from which all else follows by
    products and sums (see `lstm_pointwise`), and the cells and hidden states before clipping.
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
        cell_clip: float | None,
        proj_clip: float | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """
        # Parameters

        inputs : `Tensor`
            Shape (directions, N, input_dim), packed.
        first_hidden, first_cell : `Tensor`
            Shapes (directions, rows, projection_dim) and (directions, rows, dim).
        input_weight, recurrent_weight, bias, projection_weight : `Tensor`
            Those of `LstmLayer`, with the directions before their shapes.

        # Returns

        `tuple[Tensor, Tensor, Tensor]`
            The outputs, shape (directions, N, projection_dim), and the last states.
        """
        dim, dtype = first_cell.size(-1), autocast_dtype(input_weight)
        input_weight, recurrent_weight, bias = map(_double_new, (input_weight, recurrent_weight, bias))
        bias[:, 2 * dim : 3 * dim] += FORGET_BIAS
        input_linear, recurrent_linear, project = (
            _prepare(weight, dtype) for weight in (input_weight, recurrent_weight, projection_weight)
        )
        bias = bias[:, None].to(dtype)
        packed = inputs.shape[:2]
        all_gates = inputs.new_empty(*packed, 4 * dim)
        cells, cell_sigmoids = (inputs.new_empty(*packed, dim) for _ in range(2))
        hiddens = inputs.new_empty(*packed, first_hidden.size(-1))
        hidden, cell = first_hidden.clone(), first_cell.clone()
        from_inputs = input_gates(
            lambda start, stop: input_linear(inputs[:, start:stop]).add_(bias), batch_sizes
        )
        for step, size, added in zip(_steps(batch_sizes), batch_sizes, from_inputs, strict=True):
            gates, cell_sigmoid, cell_now = all_gates[:, step], cell_sigmoids[:, step], cells[:, step]
            gates.copy_(recurrent_linear(hidden[:, :size], added)).sigmoid_()
            i, j, f, o = gates.chunk(4, dim=-1)
            before = cell[:, :size]
            torch.mul(before, f, out=cell_now)
            cell_now.addcmul_(i, j, value=2).sub_(i)
            before.copy_(clip(cell_now, cell_clip))
            torch.mul(before, -2, out=cell_sigmoid).sigmoid_()
            hiddens[:, step] = project(torch.addcmul(o, o, cell_sigmoid, value=-2))
            hidden[:, :size] = clip(hiddens[:, step], proj_clip)
        ctx.save_for_backward(
            inputs, first_hidden, first_cell, input_weight, recurrent_weight, projection_weight,
            all_gates, cells, cell_sigmoids, hiddens,
        )  # fmt: skip
        ctx.batch_sizes, ctx.cell_clip, ctx.proj_clip, ctx.dtype = batch_sizes, cell_clip, proj_clip, dtype
        return clip(hiddens, proj_clip) if proj_clip else hiddens.clone(), hidden, cell

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor, d_hidden: Tensor, d_cell: Tensor) -> tuple[Tensor | None, ...]:
        (
            inputs, first_hidden, first_cell, input_weight, recurrent_weight, projection_weight,
            all_gates, cells, cell_sigmoids, hiddens,
        ) = ctx.saved_tensors  # fmt: skip
        previous_cells = rows_before(clip(cells, ctx.cell_clip), ctx.batch_sizes, first_cell)
        recurrent_linear, project = (
            _prepare(weight.transpose(1, 2), ctx.dtype) for weight in (recurrent_weight, projection_weight)
        )
        d_hidden, d_cell = d_hidden.clone(), d_cell.clone()
        d_all_gates, d_hiddens = torch.empty_like(all_gates), torch.empty_like(hiddens)
        for step, size in reversed(list(zip(_steps(ctx.batch_sizes), ctx.batch_sizes, strict=True))):
            gates, cell_sigmoid, d_gates = all_gates[:, step], cell_sigmoids[:, step], d_all_gates[:, step]
            i, j, f, o = gates.chunk(4, dim=-1)
            d_i, d_j, d_f, d_o = d_gates.chunk(4, dim=-1)
            d_now = torch.add(d_outputs[:, step], d_hidden[:, :size], out=d_hiddens[:, step])
            d_activated = project(_unclip_(d_now, hiddens[:, step], ctx.proj_clip)).to(o.dtype)
            torch.addcmul(d_activated, d_activated, cell_sigmoid, value=-2, out=d_o)
            d_tanh = torch.ops.aten.sigmoid_backward(d_activated.mul_(o), cell_sigmoid)
            d_cell_now = _unclip_(d_cell[:, :size].add_(d_tanh, alpha=4), cells[:, step], ctx.cell_clip)
            torch.mul(d_cell_now, previous_cells[:, step], out=d_f)
            doubled = d_cell_now + d_cell_now
            torch.mul(doubled, i, out=d_j)
            torch.mul(doubled, j, out=d_i).sub_(d_cell_now)
            d_cell_now.mul_(f)
            torch.ops.aten.sigmoid_backward.grad_input(d_gates, gates, grad_input=d_gates)
            d_hidden[:, :size] = recurrent_linear(d_gates)
        needs_inputs, _, _, needs_input_weight, needs_recurrent_weight, needs_bias, needs_projection, *_ = (
            ctx.needs_input_grad
        )
        d_inputs = d_input_weight = d_recurrent_weight = d_bias = d_projection_weight = None
        narrow = d_all_gates.to(ctx.dtype)
        if needs_inputs:
            d_inputs = _prepare(input_weight.transpose(1, 2), ctx.dtype)(narrow).to(inputs.dtype)
        if needs_input_weight:
            d_input_weight = _double_new(_sum_of_outer(narrow, inputs))
        if needs_recurrent_weight:
            previous_hiddens = rows_before(clip(hiddens, ctx.proj_clip), ctx.batch_sizes, first_hidden)
            d_recurrent_weight = _double_new(_sum_of_outer(narrow, previous_hiddens))
        if needs_bias:
            d_bias = _double_new(d_all_gates.sum(dim=1))
        if needs_projection:
            o = all_gates.chunk(4, dim=-1)[3]
            activated = torch.addcmul(o, o, cell_sigmoids, value=-2)
            d_projection_weight = _sum_of_outer(d_hiddens.to(ctx.dtype), activated)
        return (
            d_inputs, d_hidden, d_cell, d_input_weight, d_recurrent_weight, d_bias, d_projection_weight,
            None, None, None,
        )  # fmt: skip


def _prepare(weights: Tensor, dtype: torch.dtype) -> PackedLinear:
    """Returns the product with a weight per direction, shape (directions, outputs, inputs)."""
    if len(weights) == 1:
        product = pack_for_training(weights[0], dtype)
        return lambda rows, added=None: product(rows[0], None if added is None else added[0]).unsqueeze(0)
    transposed = weights.to(dtype).transpose(1, 2).contiguous()

    def batched(inputs: Tensor, added: Tensor | None = None) -> Tensor:
        inputs = inputs.to(dtype)
        return torch.bmm(inputs, transposed) if added is None else torch.baddbmm(added, inputs, transposed)

    return batched


def _sum_of_outer(left: Tensor, right: Tensor) -> Tensor:
    """
    Returns, for each direction, the sum over rows of the outer products of `left` and `right`: computed in
    the type of `left`, returned in that of `right`.
    """
    factors = left.transpose(1, 2), right.to(left.dtype)
    if len(left) == 1:  # a batched product is slower on a CPU
        return torch.mm(factors[0][0], factors[1][0]).unsqueeze(0).to(right.dtype)
    return torch.bmm(*factors).to(right.dtype)


def _double_new(tensor: Tensor) -> Tensor:
    """Returns a copy with the rows of the new values, the second of four parts, doubled."""
    tensor = tensor.clone()
    tensor.chunk(4, dim=1)[1].mul_(2)
    return tensor


def _steps(batch_sizes: Sequence[int]) -> list[slice]:
    """Returns the rows of each time step."""
    starts = accumulate(batch_sizes, initial=0)
    return [slice(start, start + size) for start, size in zip(starts, batch_sizes, strict=False)]


def _unclip_(gradient: Tensor, values: Tensor, bound: float | None) -> Tensor:
    """Turns a gradient, in place, into that before `clip` was applied to `values`."""
    return gradient.masked_fill_(values.abs() > bound, 0) if bound else gradient
