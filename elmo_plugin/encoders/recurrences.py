"""
The recurrences of LSTMs and GRUs over packed rows. Their gradients are written by hand, as a few
large products instead of many small ones, for speed on a CPU.

Under autocast, the factors and results of products are rounded to autocast's type (twice as fast on
a CPU with bfloat16 instructions); gates, cells and sums stay in the type of the parameters.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import BoolTensor, Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm import (
    autocast_dtype,
    first_derivative_only,
    multiply,
    pack,
    rows_before,
    rows_in_reverse,
)


def draw_mask(like: Tensor, rate: float, *shape: int) -> Tensor | None:
    """
    Draws the dropout mask that all time steps share, with the type and device of `like`; `None`
    without dropout.
    """
    if rate == 0:
        return None
    return nn.functional.dropout(like.new_ones(shape), rate)


class PackedRows(NamedTuple):
    """
    The words of all sentences, time step by time step, see `Packing`.

    rows: (rows, input_size)
    reverse: (rows,), the order of the rows in the other direction, its own inverse
    row_positions: the sentence and the time step of each row, each (rows,)
    batch_sizes: the number of rows of each time step
    """

    rows: Tensor
    reverse: Tensor
    row_positions: tuple[Tensor, Tensor]
    batch_sizes: list[int]


def pack_rows(module: nn.Module, inputs: Tensor, mask: BoolTensor) -> PackedRows:
    """
    Packs the words of sentences, shape (batch, time, input_size). The rows have the type of the
    module's parameters, even if autocast has changed the inputs' type.
    """
    lengths = mask.sum(dim=1)
    packing = pack(lengths)
    dtype = next(module.parameters()).dtype
    row_positions = (packing.sentence_of_row, packing.time_of_row)
    return PackedRows(
        rows=inputs.to(dtype)[row_positions],
        reverse=rows_in_reverse(packing, lengths),
        row_positions=row_positions,
        batch_sizes=packing.batch_sizes,
    )


class LstmRecurrence(Function):
    """
    Computes a layer of `torch.nn.LSTM` (Hochreiter and Schmidhuber, 1997), for several directions
    at once:

        i, f, g, o = a_t + W (m * h_{t-1})
        c_t = sigmoid(f) * c_{t-1} + sigmoid(i) * tanh(g)
        h_t = sigmoid(o) * tanh(c_t)

    The caller computes `a_t`, the part of the inputs with all biases, as one product for all rows.
    In both passes only values that depend on the previous or next time step are computed one step
    at a time.
    """

    @staticmethod
    def forward(
        ctx: Any,
        activations: Tensor,
        weight: Tensor,
        batch_sizes: Sequence[int],
        dropout_mask: Tensor | None = None,
    ) -> Tensor:
        """
        Returns `h_t` of all packed rows, shape (directions, rows, dim), each direction in the order
        in which it reads. `activations` are the `a_t`, shape (directions, rows, 4 * dim); they are
        changed in place. `weight` is the `W`, shape (directions, 4 * dim, dim), and `dropout_mask`
        the `m`, shape (directions, sentences, dim), in packed order.
        """
        dim = weight.size(2)
        dtype = autocast_dtype(weight)
        transposed = double_g_and_transpose(weight, activations).to(dtype)
        cells, tanh_cells, hidden = activations.new_empty(3, *activations.shape[:2], dim)
        cells[:, : batch_sizes[0]] = 0  # no cell comes before the first time step
        # Views of the rows of each time step.
        gates = activations.split(batch_sizes, dim=1)
        i, f, g, o = [gate.split(batch_sizes, dim=1) for gate in activations.chunk(4, dim=2)]
        c = cells.split(batch_sizes, dim=1)
        tanh_c = tanh_cells.split(batch_sizes, dim=1)
        h = hidden.split(batch_sizes, dim=1)
        add_product = product_adder(activations, dtype)
        for t, size in enumerate(batch_sizes):
            if t > 0:
                before = h[t - 1][:, :size]
                if dropout_mask is not None:
                    before = before * dropout_mask[:, :size]
                add_product(gates[t], before, transposed)
            gates[t].sigmoid_()
            if t > 0:
                torch.mul(f[t], c[t - 1][:, :size], out=c[t])
            # `g[t]` is sigmoid(2 g) here. Adds i * tanh(g) = i * (2 sigmoid(2 g) - 1).
            c[t].sub_(i[t]).addcmul_(i[t], g[t], value=2)
            torch.tanh(c[t], out=tanh_c[t])
            torch.mul(o[t], tanh_c[t], out=h[t])
        ctx.save_for_backward(weight, activations, cells, tanh_cells, hidden, dropout_mask)
        ctx.batch_sizes = batch_sizes
        ctx.dtype = dtype
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """
        Returns the gradients of the activations and the weight, by the chain rule. First, the
        derivatives dc_t/di, dc_t/df, dc_t/dg and dh_t/do are computed for all rows at once. Then a
        loop, from the last time step to the first, computes the gradients of c_t and h_t, and
        multiplies the derivatives by them.
        """
        weight, activations, cells, tanh_cells, hidden, dropout_mask = ctx.saved_tensors
        batch_sizes = ctx.batch_sizes
        dim = hidden.size(2)
        _, f, _, o = activations.chunk(4, dim=2)  # after their sigmoids
        # `d_gates` holds derivatives until the loop multiplies them by gradients, in place.
        d_gates = _derivatives_by_gates(activations, rows_before(cells, batch_sizes), tanh_cells)
        hidden_by_cell = (1 - tanh_cells * tanh_cells).mul_(o)
        d_hidden = d_outputs.clone()
        d_cells = torch.zeros_like(cells)
        # i, f and g act on the cell, o on the hidden state.
        # Shapes: (directions, rows, 3, dim) and (directions, rows, 1, dim)
        d_gates_of_cell, d_gate_of_hidden = d_gates.unflatten(2, (4, dim)).split([3, 1], dim=2)
        # Views of the rows of each time step.
        d_h = d_hidden.split(batch_sizes, dim=1)
        d_c = d_cells.split(batch_sizes, dim=1)
        h_by_c = hidden_by_cell.split(batch_sizes, dim=1)
        forget = f.split(batch_sizes, dim=1)
        d_a = d_gates.split(batch_sizes, dim=1)
        d_ifg = d_gates_of_cell.split(batch_sizes, dim=1)
        d_o = d_gate_of_hidden.split(batch_sizes, dim=1)
        step_weight = weight.to(ctx.dtype)
        add_product = product_adder(d_hidden, ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            d_c[t].addcmul_(d_h[t], h_by_c[t])
            d_ifg[t].mul_(d_c[t].unsqueeze(2))
            d_o[t].mul_(d_h[t].unsqueeze(2))
            if t > 0:
                # The gradients flow back to the cell and the hidden state of the time step before.
                torch.mul(d_c[t], forget[t], out=d_c[t - 1][:, :size])
                d_before = d_h[t - 1][:, :size]
                if dropout_mask is None:
                    add_product(d_before, d_a[t], step_weight)
                else:
                    d_dropped = product(d_a[t], step_weight, ctx.dtype)
                    d_before.addcmul_(d_dropped, dropout_mask[:, :size])
        previous = rows_before(hidden, batch_sizes)
        if dropout_mask is not None:
            previous *= torch.cat([dropout_mask[:, :size] for size in batch_sizes], dim=1)
        d_weight = product(d_gates.transpose(1, 2), previous, ctx.dtype)
        return d_gates, d_weight, None, None  # the batch sizes and the mask have no gradients


def _derivatives_by_gates(gates: Tensor, cells_before: Tensor, tanh_cells: Tensor) -> Tensor:
    """
    Returns derivatives with respect to the pre-activations of an LSTM's gates: the cell is
    differentiated for i, f and g, and the hidden state for o. `gates` are the four sigmoids, shape
    (directions, rows, 4 * dim).
    """
    derivatives = torch.empty_like(gates)
    write_derivatives_of_cells(gates, cells_before, derivatives)
    _, _, _, h_by_o = derivatives.chunk(4, dim=2)
    h_by_o.mul_(tanh_cells)
    return derivatives


def write_derivatives_of_cells(gates: Tensor, cells_before: Tensor, derivatives: Tensor) -> None:
    """
    Writes the derivatives of the cell with respect to the pre-activations of i, f and g, the first
    three gates. For all other gates, writes the derivative of the sigmoid only. `gates` are the
    sigmoids, with g doubled, see `double_g_and_transpose`. In them and in `derivatives`, all gates
    are beside each other in the last dimension.
    """
    # A sigmoid s has the derivative s * (1 - s) = s - s * s.
    torch.addcmul(gates, gates, gates, value=-1, out=derivatives)
    dim = cells_before.size(-1)
    i, _, sigmoid_2g, *_ = gates.split(dim, dim=-1)
    tanh_g = 2 * sigmoid_2g - 1
    c_by_i, c_by_f, c_by_g, *_ = derivatives.split(dim, dim=-1)
    # The gates' factors in c_t = sigmoid(f) * c_{t-1} + sigmoid(i) * tanh(g).
    c_by_i.mul_(tanh_g)
    c_by_f.mul_(cells_before)
    # The derivative of tanh(g) = 2 sigmoid(2 g) - 1 is 4 times the derivative of the sigmoid.
    c_by_g.mul_(i).mul_(4)


def double_g_and_transpose(weight: Tensor, gate_sums: Tensor) -> Tensor:
    """
    Doubles g, the third gate, in `gate_sums`, the pre-activations of all gates, in place. Returns a
    transposed copy of the recurrent weight, shape (..., dim, gates * dim), with doubled columns of
    g. So one sigmoid can activate all gates, because tanh(g) = 2 sigmoid(2 g) - 1.
    """
    dim = weight.size(-1)
    transposed = weight.transpose(-1, -2).clone(memory_format=torch.contiguous_format)
    transposed[..., 2 * dim : 3 * dim] *= 2
    gate_sums[..., 2 * dim : 3 * dim] *= 2
    return transposed


class GruRecurrence(Function):
    """
    Computes a layer of `torch.nn.GRU` (Cho et al., 2014), for several directions at once:

        r, z = sigmoid(V_rz x_t + b_rz + W_rz h_{t-1} + c_rz)
        n = tanh(V_n x_t + b_n + r * (W_n h_{t-1} + c_n))
        h_t = (1 - z) * n + z * h_{t-1}

    The caller computes `V x_t + b`, as one product for all rows. In both passes only values that
    depend on the previous or next time step are computed one step at a time.
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, bias: Tensor, batch_sizes: Sequence[int]
    ) -> Tensor:
        """
        Returns `h_t` of all packed rows, shape (directions, rows, dim), each direction in the order
        in which it reads. `projected` is `V x_t + b`, shape (directions, rows, 3 * dim). `weight`
        is `W`, shape (directions, 3 * dim, dim). `bias` is `c`, shape (directions, 3 * dim).
        """
        directions, rows, _ = projected.shape
        dim = weight.size(2)
        dtype = autocast_dtype(weight)
        transposed = weight.transpose(1, 2).contiguous().to(dtype)
        bias = bias.unsqueeze(1)  # Shape: (directions, 1, 3 * dim)
        recurrent = torch.empty_like(projected)  # W h_{t-1} + c
        recurrent_rz, recurrent_n = recurrent.split([2 * dim, dim], dim=2)
        gates = projected.clone()  # r, z and n, once they are activated
        hidden = projected.new_empty(directions, rows, dim)
        # Views of the rows of each time step, through which the loop fills the tensors above.
        rz = gates[..., : 2 * dim].split(batch_sizes, dim=1)
        r, z, n = [gate.split(batch_sizes, dim=1) for gate in gates.chunk(3, dim=2)]
        sums = recurrent.split(batch_sizes, dim=1)
        sums_rz = recurrent_rz.split(batch_sizes, dim=1)
        sums_n = recurrent_n.split(batch_sizes, dim=1)
        outputs = hidden.split(batch_sizes, dim=1)
        h = projected.new_zeros(directions, batch_sizes[0], dim)
        add_product = product_adder(recurrent, dtype)
        for t, size in enumerate(batch_sizes):
            h = h[:, :size]
            sums[t].copy_(bias)
            add_product(sums[t], h, transposed)
            rz[t].add_(sums_rz[t]).sigmoid_()
            n[t].addcmul_(r[t], sums_n[t]).tanh_()
            h = torch.lerp(n[t], h, z[t], out=outputs[t])
        ctx.save_for_backward(weight, gates, recurrent_n, hidden)
        ctx.batch_sizes = batch_sizes
        ctx.dtype = dtype
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """
        Returns the gradients of `projected`, the weight and the bias, by the chain rule. First, the
        derivatives of h_t are computed for all rows at once. Then a loop, from the last time step
        to the first, computes the gradient of h_t, and multiplies the derivatives by it.
        """
        weight, gates, recurrent_n, hidden = ctx.saved_tensors
        batch_sizes = ctx.batch_sizes
        dim = hidden.size(2)
        r, z, n = gates.chunk(3, dim=2)
        previous = rows_before(hidden, batch_sizes)
        # The derivative of h_t with respect to the pre-activation of n, the argument of its tanh.
        h_by_sum = (1 - n * n).mul_(1 - z)
        # The derivatives of h_t with respect to `W h_{t-1} + c`, in its parts for r, z and n.
        # `d_recurrent` holds them until the loop multiplies them by gradients, in place.
        d_recurrent = torch.empty_like(gates)
        h_by_r, h_by_z, h_by_n = d_recurrent.chunk(3, dim=2)
        torch.mul(h_by_sum * recurrent_n, r - r * r, out=h_by_r)
        torch.mul(previous - n, z - z * z, out=h_by_z)
        torch.mul(h_by_sum, r, out=h_by_n)
        d_hidden = d_outputs.clone()
        # Views of the rows of each time step; `d_parts` has a dimension for the three parts.
        d_parts = d_recurrent.unflatten(2, (3, dim)).split(batch_sizes, dim=1)
        d_sums = d_recurrent.split(batch_sizes, dim=1)
        d_h = d_hidden.split(batch_sizes, dim=1)
        keep = z.split(batch_sizes, dim=1)
        step_weight = weight.to(ctx.dtype)
        add_product = product_adder(d_hidden, ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            d_parts[t].mul_(d_h[t].unsqueeze(2))
            if t > 0:
                # The gradient flows back to the hidden state of the time step before.
                d_before = d_h[t - 1][:, :size]
                d_before.addcmul_(d_h[t], keep[t])
                add_product(d_before, d_sums[t], step_weight)
        # In r and z, V x_t + b is added to W h_{t-1} + c, so both sums have the same gradient.
        d_r_and_z = d_recurrent[..., : 2 * dim]
        d_n = h_by_sum.mul_(d_hidden)
        d_projected = torch.cat([d_r_and_z, d_n], dim=2)
        d_weight = product(d_recurrent.transpose(1, 2), previous, ctx.dtype)
        d_bias = d_recurrent.sum(dim=1)
        return d_projected, d_weight, d_bias, None  # the batch sizes have no gradient


def product(left: Tensor, right: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns `left @ right` in the type of `left`. The product is computed in `dtype`."""
    return multiply(left.to(dtype), right.to(dtype)).to(left.dtype)


def product_adder(like: Tensor, dtype: torch.dtype) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """
    Returns a function of (sums, left, right) that adds `left @ right` to `sums` in place, and
    returns `sums`. `like` shows the type and the number of dimensions of the sums: 2 for a matrix,
    3 for a batch of matrices. `right` must have the type `dtype`; `left` is converted to it for the
    product.
    """

    def add_rounded_product(sums: Tensor, left: Tensor, right: Tensor) -> Tensor:
        return sums.add_(torch.matmul(left.to(dtype), right))

    # torch's operations that multiply and add at once need sums and factors of one type.
    if dtype != like.dtype:
        return add_rounded_product
    if like.dim() == 2:
        return Tensor.addmm_
    return Tensor.baddbmm_
