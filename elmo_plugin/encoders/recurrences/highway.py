"""One layer of a highway LSTM over packed rows: an autograd function, its gradient by hand."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm import autocast_dtype, first_derivative_only, rows_before
from elmo_plugin.encoders.recurrences.products import add_product_, product


class HighwayRecurrence(Function):
    """
    Computes the layer of He et al. (2017, section 2.2), in the form of AllenNLP's `AugmentedLstm`:

        i, f, j, o, r = V x_t + W h_{t-1} + b
        c_t = sigmoid(i) * tanh(j) + sigmoid(f) * c_{t-1}
        h_t = m * (sigmoid(r) * sigmoid(o) * tanh(c_t) + (1 - sigmoid(r)) * U x_t)

    The dropout mask m is that of their equation 13: both the next time step and the next layer see the
    dropped values. `V x_t` and `U x_t` are one product for all rows. In both passes only what depends on the
    previous or next time step is computed step by step.
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
        dim, dtype = recurrent_weight.size(1), autocast_dtype(recurrent_weight)
        bias = nn.functional.pad(recurrent_bias, (0, dim))
        if input_bias is not None:
            bias += input_bias
        activations = add_product_(bias.repeat(len(inputs), 1), inputs, input_weight.t().to(dtype))
        # tanh(j) = 2 sigmoid(2 j) - 1: with the part of j doubled, one sigmoid activates all gates.
        weight = recurrent_weight.t().clone(memory_format=torch.contiguous_format)
        for tensor in (activations, weight):
            tensor[:, 2 * dim : 3 * dim] *= 2
        weight = weight.to(dtype)
        cells, tanh_cells, hidden = (inputs.new_empty(len(inputs), dim) for _ in range(3))
        cells[: batch_sizes[0]] = 0
        # Views of the rows of each time step.
        gates, i, f, j, o, r, carried, c, tanh_c, h = (
            rows.split(batch_sizes)
            for rows in (activations[:, : 5 * dim], *activations.chunk(6, dim=1), cells, tanh_cells, hidden)
        )
        for t, size in enumerate(batch_sizes):
            if t > 0:
                add_product_(gates[t], h[t - 1][:size], weight)
            gates[t].sigmoid_()
            if t > 0:
                torch.mul(f[t], c[t - 1][:size], out=c[t])
            c[t].sub_(i[t]).addcmul_(i[t], j[t], value=2)
            torch.tanh(c[t], out=tanh_c[t])
            torch.lerp(carried[t], o[t] * tanh_c[t], r[t], out=h[t])
            if dropout_mask is not None:
                h[t].mul_(dropout_mask[:size])
        ctx.save_for_backward(
            inputs, input_weight, recurrent_weight, dropout_mask, activations, tanh_cells, cells, hidden
        )
        ctx.batch_sizes, ctx.dtype, ctx.has_input_bias = batch_sizes, dtype, input_bias is not None
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (
            inputs, input_weight, recurrent_weight, dropout_mask, activations, tanh_cells, cells, hidden
        ) = ctx.saved_tensors  # fmt: skip
        batch_sizes, dim = ctx.batch_sizes, hidden.size(1)
        i, f, j, o, r, carried = activations.chunk(6, dim=1)
        # The derivatives of the cell by the first three gates before their activation, and of the output by
        # the other two. The loop turns them into the gradients of these gates.
        d_activations = torch.addcmul(activations, activations, activations, value=-1)
        d_gates = d_activations[:, : 5 * dim]
        to_i, to_f, to_j, to_o, to_r, d_carried = d_activations.chunk(6, dim=1)
        to_i.mul_(2 * j - 1)
        to_f.mul_(rows_before(cells, batch_sizes))
        to_j.mul_(i).mul_(4)
        to_o.mul_(r).mul_(tanh_cells)
        to_r.mul_(o * tanh_cells - carried)
        hidden_to_cell = (1 - tanh_cells * tanh_cells).mul_(r).mul_(o)
        d_hidden, d_cells = d_outputs.clone(), torch.zeros_like(cells)
        from_cell, from_hidden, _ = d_activations.view(-1, 6, dim).split((3, 2, 1), dim=1)
        d_h, d_c, h_to_c, forget, from_c, from_h, d_gates_of = (
            rows.split(batch_sizes)
            for rows in (d_hidden, d_cells, hidden_to_cell, f, from_cell, from_hidden, d_gates)
        )
        step_weight = recurrent_weight.to(ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            if dropout_mask is not None:
                d_h[t].mul_(dropout_mask[:size])
            d_c[t].addcmul_(d_h[t], h_to_c[t])
            from_c[t].mul_(d_c[t].unsqueeze(1))
            from_h[t].mul_(d_h[t].unsqueeze(1))
            if t > 0:
                torch.mul(d_c[t], forget[t], out=d_c[t - 1][:size])
                add_product_(d_h[t - 1][:size], d_gates_of[t], step_weight)
        torch.mul(d_hidden, 1 - r, out=d_carried)
        needs_inputs, needs_input_weight, _, needs_recurrent_weight, *_ = ctx.needs_input_grad
        d_inputs = d_input_weight = d_recurrent_weight = None
        if needs_inputs:
            d_inputs = product(d_activations, input_weight, ctx.dtype)
        if needs_input_weight:
            d_input_weight = product(d_activations.t(), inputs, ctx.dtype)
        if needs_recurrent_weight:
            d_recurrent_weight = product(d_gates.t(), rows_before(hidden, batch_sizes), ctx.dtype)
        d_bias = d_activations.sum(dim=0)
        d_input_bias = d_bias.clone() if ctx.has_input_bias else None
        d_recurrent_bias = d_bias[: 5 * dim]
        return d_inputs, d_input_weight, d_input_bias, d_recurrent_weight, d_recurrent_bias, None, None
