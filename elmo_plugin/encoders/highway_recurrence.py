"""One layer of a highway LSTM over packed rows: an autograd function, its gradient by hand."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class HighwayRecurrence(Function):
    """
    Computes the layer of He et al. (2017, section 2.2), in the form of AllenNLP's `AugmentedLstm`:

        i, f, j, o, r = V x_t + W (m * h_{t-1}) + b
        c_t = sigmoid(i) * tanh(j) + sigmoid(f) * c_{t-1}
        h_t = sigmoid(r) * sigmoid(o) * tanh(c_t) + (1 - sigmoid(r)) * U x_t

    `V x_t` and `U x_t` are one product for all rows each. In both passes only what depends on the time step
    before, or after, goes step by step.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        input_weight: Tensor,
        input_bias: Tensor | None,
        recurrent_weight: Tensor,
        recurrent_bias: Tensor,
        dropout_mask: Tensor | None,
        batch_sizes: Sequence[int],
    ) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`
            `x_t` of all rows, packed (see `elmo_plugin.bilm.Packing`). Shape (rows, input_size).
        input_weight, input_bias : `Tensor`
            `V` with `U` below it, and what is added to their products. Shapes (6 * hidden_size, input_size)
            and (6 * hidden_size,).
        recurrent_weight, recurrent_bias : `Tensor`
            `W` and `b`, shapes (5 * hidden_size, hidden_size) and (5 * hidden_size,).
        dropout_mask : `Tensor | None`
            `m` of each sentence in packed order, shape (sentences, hidden_size).
        batch_sizes : `Sequence[int]`
            The number of rows of each time step, never increasing.

        # Returns

        `Tensor`
            `h_t` of all rows, shape (rows, hidden_size).
        """
        dim = recurrent_weight.size(1)
        gates = inputs @ input_weight[: 5 * dim].t()
        carried = inputs @ input_weight[5 * dim :].t()
        gates += recurrent_bias
        if input_bias is not None:
            gates += input_bias[: 5 * dim]
            carried += input_bias[5 * dim :]
        # tanh(j) = 2 sigmoid(2 j) - 1: with the part of j doubled, one sigmoid activates all gates.
        weight = recurrent_weight.t().clone(memory_format=torch.contiguous_format)
        for tensor in (gates, weight):
            tensor[:, 2 * dim : 3 * dim] *= 2
        tanh_cells, cells, hidden = (torch.empty_like(carried) for _ in range(3))
        for before, now in _pairs_of_steps(batch_sizes):
            size = now.stop - now.start
            if before is not None:
                gates[now].addmm_(_times(hidden[before][:size], dropout_mask), weight)
            i, f, j, o, r = gates[now].sigmoid_().chunk(5, dim=1)
            cell = torch.mul(i, j, out=cells[now]).mul_(2).sub_(i)
            if before is not None:
                cell.addcmul_(f, cells[before][:size])
            tanh_cell = torch.tanh(cell, out=tanh_cells[now])
            torch.lerp(carried[now], o * tanh_cell, r, out=hidden[now])
        ctx.save_for_backward(
            inputs, input_weight, input_bias, recurrent_weight, dropout_mask,
            gates, carried, tanh_cells, cells, hidden,
        )  # fmt: skip
        ctx.batch_sizes = batch_sizes
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (
            inputs, input_weight, input_bias, recurrent_weight, dropout_mask,
            gates, carried, tanh_cells, cells, hidden,
        ) = ctx.saved_tensors  # fmt: skip
        dim = carried.size(1)
        i, f, j, o, r = gates.chunk(5, dim=1)
        # The derivatives of the cell by the first three gates before their activation, and of the output by
        # the other two. The loop turns them into the gradients of these gates.
        d_gates = gates * (1 - gates)
        to_i, to_f, to_j, to_o, to_r = d_gates.chunk(5, dim=1)
        earlier, later, places = _rows_of_earlier_steps(ctx.batch_sizes, inputs.device)
        to_i.mul_(2 * j - 1)
        to_f[: later.start] = 0
        to_f[later] *= cells[earlier]
        to_j.mul_(i).mul_(4)
        to_o.mul_(r).mul_(tanh_cells)
        to_r.mul_(o * tanh_cells - carried)
        hidden_to_cell = (1 - tanh_cells * tanh_cells).mul_(r).mul_(o)
        d_hidden, d_cells = d_outputs.clone(), torch.zeros_like(cells)
        from_cell, from_hidden = d_gates.view(-1, 5, dim).split((3, 2), dim=1)
        for before, now in reversed(list(_pairs_of_steps(ctx.batch_sizes))):
            d_cell = d_cells[now].addcmul_(d_hidden[now], hidden_to_cell[now])
            from_cell[now] *= d_cell[:, None]
            from_hidden[now] *= d_hidden[now, None]
            if before is not None:
                size = now.stop - now.start
                torch.mul(d_cell, f[now], out=d_cells[before][:size])
                d_hidden[before][:size] += _times(d_gates[now] @ recurrent_weight, dropout_mask)
        d_carried = d_hidden.mul_(1 - r)
        weights = input_weight.split((5 * dim, dim))
        needs_inputs, needs_input_weight, _, needs_recurrent_weight, *_ = ctx.needs_input_grad
        d_inputs = d_input_weight = d_recurrent_weight = None
        if needs_inputs:
            d_inputs = torch.addmm(d_carried @ weights[1], d_gates, weights[0])
        if needs_input_weight:
            d_input_weight = torch.cat([d_gates.t() @ inputs, d_carried.t() @ inputs])
        if needs_recurrent_weight:
            previous = hidden[earlier] if dropout_mask is None else hidden[earlier] * dropout_mask[places]
            d_recurrent_weight = d_gates[later].t() @ previous
        d_recurrent_bias = d_gates.sum(dim=0)
        d_input_bias = None if input_bias is None else torch.cat([d_recurrent_bias, d_carried.sum(dim=0)])
        return d_inputs, d_input_weight, d_input_bias, d_recurrent_weight, d_recurrent_bias, None, None


def _times(hidden: Tensor, dropout_mask: Tensor | None) -> Tensor:
    return hidden if dropout_mask is None else hidden * dropout_mask[: len(hidden)]


def _pairs_of_steps(batch_sizes: Sequence[int]) -> Iterator[tuple[slice | None, slice]]:
    """Yields the rows of each time step, after those of the step before, which the first one lacks."""
    before = None
    for start, stop in pairwise(accumulate(batch_sizes, initial=0)):
        yield before, slice(start, stop)
        before = slice(start, stop)


def _rows_of_earlier_steps(batch_sizes: Sequence[int], device: torch.device) -> tuple[Tensor, slice, Tensor]:
    """
    Returns, for the rows after the first time step: the rows that they follow in their sentences, these rows
    themselves, and the places of their sentences in packed order.
    """
    sizes = torch.tensor(batch_sizes)
    later = slice(batch_sizes[0], sum(batch_sizes))
    rows = torch.arange(later.start, later.stop)
    earlier = rows - sizes[:-1].repeat_interleave(sizes[1:])
    places = rows - (sizes.cumsum(0) - sizes)[1:].repeat_interleave(sizes[1:])
    return earlier.to(device), later, places.to(device)
