"""One layer of a bidirectional GRU over packed rows: an autograd function, its gradient by hand."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from elmo_plugin.bilm import autocast_dtype, first_derivative_only, rows_before
from elmo_plugin.encoders.recurrences.products import add_product_, product


class GruRecurrence(Function):
    """
    Computes a layer of `torch.nn.GRU` (Cho et al., 2014), for several directions at once:

        r, z = sigmoid(V_rz x_t + b_rz + W_rz h_{t-1} + c_rz)
        n = tanh(V_n x_t + b_n + r * (W_n h_{t-1} + c_n))
        h_t = (1 - z) * n + z * h_{t-1}

    `V x_t + b` is an argument, computed as one product for all rows. In both passes only what depends on the
    previous or next time step is computed step by step.
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, bias: Tensor, batch_sizes: Sequence[int]
    ) -> Tensor:
        """
        # Parameters

        projected : `Tensor`
            `V x_t + b` of all rows, packed (see `elmo_plugin.bilm.Packing`), each direction in the order in
            which it reads. Shape (directions, rows, 3 * hidden_size).
        weight, bias : `Tensor`
            `W` and `c`, shapes (directions, 3 * hidden_size, hidden_size) and (directions, 3 * hidden_size).
        batch_sizes : `Sequence[int]`
            The number of rows of each time step, never increasing.

        # Returns

        `Tensor`
            `h_t` of all rows, shape (directions, rows, hidden_size).
        """
        directions, rows, dim = *projected.shape[:2], weight.size(2)
        dtype = autocast_dtype(weight)
        transposed, bias = weight.transpose(1, 2).contiguous().to(dtype), bias.unsqueeze(1)
        recurrent = torch.empty_like(projected)  # W h + c, of which the last third is kept for the gradient.
        gates = projected.clone()  # r, z and n, once they are activated.
        hidden = projected.new_empty(directions, rows, dim)
        h = projected.new_zeros(directions, batch_sizes[0], dim)
        r_and_z, r, z, n, products, to_r_and_z, to_n, outputs = (
            tensor.split(batch_sizes, dim=1)
            for tensor in (
                gates[..., : 2 * dim],
                *gates.chunk(3, dim=2),
                recurrent,
                recurrent[..., : 2 * dim],
                recurrent[..., 2 * dim :],
                hidden,
            )
        )
        for t, size in enumerate(batch_sizes):
            h = h[:, :size]
            add_product_(products[t].copy_(bias), h, transposed)
            r_and_z[t].add_(to_r_and_z[t]).sigmoid_()
            n[t].addcmul_(r[t], to_n[t]).tanh_()
            h = torch.lerp(n[t], h, z[t], out=outputs[t])
        ctx.save_for_backward(weight, gates, recurrent[..., 2 * dim :], hidden)
        ctx.batch_sizes, ctx.dtype = batch_sizes, dtype
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        weight, gates, to_n, hidden = ctx.saved_tensors
        batch_sizes, dim = ctx.batch_sizes, hidden.size(2)
        r, z, n = gates.chunk(3, dim=2)
        previous = rows_before(hidden, batch_sizes)
        # The derivatives of h_t by what is added to each gate before its activation: by V x_t + b, whose last
        # third is that of n, and by W h + c, whose last third is times r.
        by_n = (1 - n * n).mul_(1 - z)
        d_recurrent = torch.empty_like(gates)
        to_r, to_z, to_product = d_recurrent.chunk(3, dim=2)
        torch.mul(by_n * to_n, r - r * r, out=to_r)
        torch.mul(previous - n, z - z * z, out=to_z)
        torch.mul(by_n, r, out=to_product)
        d_hidden = d_outputs.clone()
        d_gates, d_rows, d_h, keep = (
            tensor.split(batch_sizes, dim=1)
            for tensor in (d_recurrent.unflatten(2, (3, dim)), d_recurrent, d_hidden, z)
        )
        step_weight = weight.to(ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            d_gates[t].mul_(d_h[t].unsqueeze(2))
            if t > 0:
                d_before = d_h[t - 1][:, :size]
                add_product_(d_before.addcmul_(d_h[t], keep[t]), d_rows[t], step_weight)
        d_projected = torch.cat([d_recurrent[..., : 2 * dim], by_n.mul_(d_hidden)], dim=2)
        d_weight = product(d_recurrent.transpose(1, 2), previous, ctx.dtype)
        return d_projected, d_weight, d_recurrent.sum(dim=1), None
