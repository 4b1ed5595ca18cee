"""One layer of a bidirectional LSTM over packed rows: an autograd function, its gradient by hand."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from elmo_plugin.bilm import autocast_dtype, first_derivative_only, rows_before
from elmo_plugin.encoders.recurrences.products import add_product_, product


class LstmRecurrence(Function):
    """
    Computes a layer of `torch.nn.LSTM` (Hochreiter and Schmidhuber, 1997), for several directions at once:

        i, f, g, o = V x_t + b + W (m * h_{t-1}) + c
        c_t = sigmoid(f) * c_{t-1} + sigmoid(i) * tanh(g)
        h_t = sigmoid(o) * tanh(c_t)

    `V x_t + b` is an argument, computed as one product for all rows. In both passes only what depends on the
    previous or next time step is computed step by step.
    """

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        weight: Tensor,
        bias: Tensor,
        batch_sizes: Sequence[int],
        dropout_mask: Tensor | None = None,
    ) -> Tensor:
        """
        # Parameters

        projected : `Tensor`
            `V x_t + b` of all rows, packed (see `elmo_plugin.bilm.Packing`), each direction in the order in
            which it reads. Shape (directions, rows, 4 * hidden_size).
        weight, bias : `Tensor`
            `W` and `c`, shapes (directions, 4 * hidden_size, hidden_size) and (directions, 4 * hidden_size).
        batch_sizes : `Sequence[int]`
            The number of rows of each time step, never increasing.
        dropout_mask : `Tensor | None`, optional (default = `None`)
            `m` of each sentence in packed order, shape (directions, sentences, hidden_size).

        # Returns

        `Tensor`
            `h_t` of all rows, shape (directions, rows, hidden_size).
        """
        directions, rows, dim = *projected.shape[:2], weight.size(2)
        dtype = autocast_dtype(weight)
        gates = projected + bias.unsqueeze(1)
        # tanh(g) = 2 sigmoid(2 g) - 1: with the part of g doubled, one sigmoid activates all gates.
        transposed = weight.transpose(1, 2).clone(memory_format=torch.contiguous_format)
        for tensor in (gates, transposed):
            tensor[..., 2 * dim : 3 * dim] *= 2
        transposed = transposed.to(dtype)
        cells, tanh_cells, hidden = (projected.new_empty(directions, rows, dim) for _ in range(3))
        cells[:, : batch_sizes[0]] = 0
        # Views of the rows of each time step.
        all_gates, i, f, g, o, c, tanh_c, h = (
            tensor.split(batch_sizes, dim=1)
            for tensor in (gates, *gates.chunk(4, dim=2), cells, tanh_cells, hidden)
        )
        for t, size in enumerate(batch_sizes):
            if t > 0:
                before = h[t - 1][:, :size]
                before = before if dropout_mask is None else before * dropout_mask[:, :size]
                add_product_(all_gates[t], before, transposed)
            all_gates[t].sigmoid_()
            if t > 0:
                torch.mul(f[t], c[t - 1][:, :size], out=c[t])
            c[t].sub_(i[t]).addcmul_(i[t], g[t], value=2)
            torch.tanh(c[t], out=tanh_c[t])
            torch.mul(o[t], tanh_c[t], out=h[t])
        ctx.save_for_backward(weight, gates, cells, tanh_cells, hidden, dropout_mask)
        ctx.batch_sizes, ctx.dtype = batch_sizes, dtype
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        weight, gates, cells, tanh_cells, hidden, dropout_mask = ctx.saved_tensors
        batch_sizes, dim = ctx.batch_sizes, hidden.size(2)
        i, f, g, o = gates.chunk(4, dim=2)
        # The derivatives of the cell by the first three gates before their activation, and of the output by
        # the last one. The loop turns them into the gradients of these gates.
        d_gates = torch.addcmul(gates, gates, gates, value=-1)
        to_i, to_f, to_g, to_o = d_gates.chunk(4, dim=2)
        to_i.mul_(2 * g - 1)
        to_f.mul_(rows_before(cells, batch_sizes))
        to_g.mul_(i).mul_(4)
        to_o.mul_(tanh_cells)
        hidden_to_cell = (1 - tanh_cells * tanh_cells).mul_(o)
        d_hidden, d_cells = d_outputs.clone(), torch.zeros_like(cells)
        from_cell, from_hidden = d_gates.unflatten(2, (4, dim)).split((3, 1), dim=2)
        d_h, d_c, h_to_c, forget, from_c, from_h, d_rows = (
            tensor.split(batch_sizes, dim=1)
            for tensor in (d_hidden, d_cells, hidden_to_cell, f, from_cell, from_hidden, d_gates)
        )
        step_weight = weight.to(ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            d_c[t].addcmul_(d_h[t], h_to_c[t])
            from_c[t].mul_(d_c[t].unsqueeze(2))
            from_h[t].mul_(d_h[t].unsqueeze(2))
            if t > 0:
                torch.mul(d_c[t], forget[t], out=d_c[t - 1][:, :size])
                if dropout_mask is None:
                    add_product_(d_h[t - 1][:, :size], d_rows[t], step_weight)
                else:
                    d_before = product(d_rows[t], step_weight, ctx.dtype)
                    d_h[t - 1][:, :size].addcmul_(d_before, dropout_mask[:, :size])
        previous = rows_before(hidden, batch_sizes)
        if dropout_mask is not None:
            previous *= torch.cat([dropout_mask[:, :size] for size in batch_sizes], dim=1)
        d_weight = product(d_gates.transpose(1, 2), previous, ctx.dtype)
        return d_gates, d_weight, d_gates.sum(dim=1), None, None
