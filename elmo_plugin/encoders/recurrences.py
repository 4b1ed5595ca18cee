"""
Layers of LSTMs and GRUs in both directions over packed rows. Their gradients, written by hand, are
a few large products instead of many small ones, for speed on a CPU.

Under autocast, the factors and results of products are rounded to autocast's type (twice as fast on
a CPU with bfloat16 instructions); gates, cells and sums stay in the type of the parameters.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from overrides import overrides
from torch import BoolTensor, Tensor, nn
from torch.autograd import Function
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_plugin.bilm import (
    autocast_dtype,
    first_derivative_only,
    multiply,
    pack,
    rows_before,
    rows_in_reverse,
)


class SizedEncoder(Seq2SeqEncoder):
    """The base of encoders that know their sizes when they are made."""

    def __init__(self, input_dim: int, output_dim: int, is_bidirectional: bool) -> None:
        super().__init__()
        self._sizes = input_dim, output_dim
        self._is_bidirectional = is_bidirectional

    @overrides
    def get_input_dim(self) -> int:
        return self._sizes[0]

    @overrides
    def get_output_dim(self) -> int:
        return self._sizes[1]

    @overrides
    def is_bidirectional(self) -> bool:
        return self._is_bidirectional


def read_both_ways(
    layer: nn.RNNBase, inputs: Tensor, mask: BoolTensor, recurrent_dropout: float = 0.0
) -> Tensor:
    """
    Runs one bidirectional layer of torch over sentences, shape (batch, time, input_size), each read
    from both of its ends. Returns shape (batch, time, 2 * hidden_size), zeros at the padding on the
    right.

    `recurrent_dropout`, for LSTMs only, is the rate of dropout on the hidden state that each time
    step takes from the one before, with one mask for all time steps of a sentence (Gal and
    Ghahramani, 2016). On a GPU, and without gradients, torch itself runs the layer, unless there is
    recurrent dropout.
    """
    if not recurrent_dropout and (inputs.is_cuda or not torch.is_grad_enabled()):
        return read_by_torch(layer, inputs, mask)
    rows, reverse, places, batch_sizes = pack_rows(layer, inputs, mask)
    outputs = rows.new_zeros(*mask.shape, 2 * layer.hidden_size)
    if not batch_sizes:
        return outputs
    input_weight, weight, input_bias, bias = map(torch.stack, zip(*layer.all_weights, strict=True))
    projected = nn.functional.linear(rows, input_weight.flatten(0, 1), input_bias.flatten()).to(
        rows.dtype
    )
    forward, backward = projected.chunk(2, dim=1)
    both = torch.stack([forward, backward[reverse]])
    if isinstance(layer, nn.LSTM):
        dropout_mask = draw_mask(rows, recurrent_dropout, 2, batch_sizes[0], layer.hidden_size)
        hidden = LstmRecurrence.apply(both + bias.unsqueeze(1), weight, batch_sizes, dropout_mask)
    else:
        hidden = GruRecurrence.apply(both, weight, bias, batch_sizes)
    outputs[places] = torch.cat([hidden[0], hidden[1][reverse]], dim=1)
    return outputs


def draw_mask(like: Tensor, rate: float, *shape: int) -> Tensor | None:
    """Draws the dropout mask that all time steps share; `None` without dropout."""
    return nn.functional.dropout(like.new_ones(shape), rate) if rate else None


def pack_rows(
    module: nn.Module, inputs: Tensor, mask: BoolTensor
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor], list[int]]:
    """
    Returns the words of all sentences as packed rows, shape (rows, input_size), in the type of the
    module's parameters, whatever autocast has made of the inputs; the order of the rows in the
    other direction, its own inverse; their sentences and times; and the number of rows of each time
    step.
    """
    lengths = mask.sum(dim=1)
    packing = pack(lengths)
    places = packing.sentence, packing.time
    rows = inputs.to(next(module.parameters()).dtype)[places]
    return rows, rows_in_reverse(packing, lengths), places, packing.batch_sizes


def read_by_torch(layer: nn.RNNBase, inputs: Tensor, mask: BoolTensor) -> Tensor:
    """Computes the same with torch's own operations."""
    # It cannot run over nothing: a row of padding alone counts as one step, and is blanked below.
    lengths = mask.sum(dim=1).clamp(min=1).cpu()
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    outputs, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=mask.size(1))
    return outputs.masked_fill(~mask.unsqueeze(-1), 0.0)


class InputProduct(Function):
    """
    Computes `inputs @ weight.t() + bias` for all rows, with the products of `product` in both
    passes.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        ctx.dtype = autocast_dtype(weight)
        sums = bias.repeat(len(inputs), 1)
        return product_adder(sums, ctx.dtype)(sums, inputs, weight.t().to(ctx.dtype))

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_sums: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        d_inputs = product(d_sums, weight, ctx.dtype) if ctx.needs_input_grad[0] else None
        return d_inputs, product(d_sums.t(), inputs, ctx.dtype), d_sums.sum(dim=0)


class LstmRecurrence(Function):
    """
    Computes a layer of `torch.nn.LSTM` (Hochreiter and Schmidhuber, 1997):

        i, f, g, o = a_t + W (m * h_{t-1})
        c_t = sigmoid(f) * c_{t-1} + sigmoid(i) * tanh(g)
        h_t = sigmoid(o) * tanh(c_t)

    or, if there is a fifth gate r, the layer of He et al. (2017, section 2.2), in the form of
    AllenNLP's `AugmentedLstm`. Its highway connection carries u_t, and its dropout mask m is from
    their equation 13: both the next time step and the next layer see the dropped values:

        i, f, g, o, r = a_t + W h_{t-1}
        h_t = m * (sigmoid(r) * sigmoid(o) * tanh(c_t) + (1 - sigmoid(r)) * u_t)

    The inputs' part `a_t`, with all biases, is an argument, computed as one product for all rows.
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
        Returns `h_t` of all packed rows, shape (rows, dim), each direction in the order in which it
        reads. All shapes may begin with the number of directions. `activations` are the `a_t`,
        shape (rows, 4 * dim), or with `u_t`, (rows, 6 * dim); they are changed in place. `weight`
        is the `W`, shape (4 * dim, dim) or (5 * dim, dim), and `dropout_mask` the `m`, shape
        (sentences, dim), in packed order.
        """
        dim, dtype = weight.size(-1), autocast_dtype(weight)
        transposed = weight.transpose(-1, -2).clone(memory_format=torch.contiguous_format)
        # tanh(g) = 2 sigmoid(2 g) - 1: with the part of g doubled, one sigmoid activates all gates.
        for tensor in (activations, transposed):
            tensor[..., 2 * dim : 3 * dim] *= 2
        transposed = transposed.to(dtype)
        cells, tanh_cells, hidden = activations.new_empty(3, *activations.shape[:-1], dim)
        cells[..., : batch_sizes[0], :] = 0
        gates, parts = activations[..., : weight.size(-2)], activations.split(dim, dim=-1)
        # Views of the rows of each time step.
        all_gates, c, tanh_c, h, i, f, g, o, *highway = [
            tensor.split(batch_sizes, dim=-2)
            for tensor in (gates, cells, tanh_cells, hidden, *parts)
        ]
        add_product = product_adder(activations, dtype)
        for t, size in enumerate(batch_sizes):
            if t > 0:
                before = h[t - 1][..., :size, :]
                if dropout_mask is not None and not highway:
                    before = before * dropout_mask[..., :size, :]
                add_product(all_gates[t], before, transposed)
            all_gates[t].sigmoid_()
            if t > 0:
                torch.mul(f[t], c[t - 1][..., :size, :], out=c[t])
            c[t].sub_(i[t]).addcmul_(i[t], g[t], value=2)
            torch.tanh(c[t], out=tanh_c[t])
            if highway:
                r, carried = highway
                torch.lerp(carried[t], o[t] * tanh_c[t], r[t], out=h[t])
                if dropout_mask is not None:
                    h[t].mul_(dropout_mask[:size])
            else:
                torch.mul(o[t], tanh_c[t], out=h[t])
        ctx.save_for_backward(weight, activations, cells, tanh_cells, hidden, dropout_mask)
        ctx.batch_sizes, ctx.dtype = batch_sizes, dtype
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        weight, activations, cells, tanh_cells, hidden, dropout_mask = ctx.saved_tensors
        batch_sizes, dim = ctx.batch_sizes, hidden.size(-1)
        i, f, g, o, *highway = activations.split(dim, dim=-1)
        # The derivatives of the cell by the first three gates before their activation, and of the
        # output by the others. The loop turns them into the gradients of these gates.
        d_activations = torch.addcmul(activations, activations, activations, value=-1)
        to_i, to_f, to_g, to_o, *to_highway = d_activations.split(dim, dim=-1)
        to_i.mul_(2 * g - 1)
        to_f.mul_(rows_before(cells, batch_sizes))
        to_g.mul_(i).mul_(4)
        hidden_to_cell = 1 - tanh_cells * tanh_cells
        if highway:
            r, carried = highway
            to_o.mul_(r)
            to_highway[0].mul_(o * tanh_cells - carried)
            hidden_to_cell.mul_(r)
        to_o.mul_(tanh_cells)
        hidden_to_cell.mul_(o)
        d_hidden, d_cells = d_outputs.clone(), torch.zeros_like(cells)
        d_gates = d_activations[..., : weight.size(-2)]
        from_cell, from_hidden = d_gates.unflatten(-1, (-1, dim)).tensor_split([3], dim=-2)
        d_h, d_c, h_to_c, forget, d_rows = [
            tensor.split(batch_sizes, dim=-2)
            for tensor in (d_hidden, d_cells, hidden_to_cell, f, d_gates)
        ]
        # Each of the shape (rows, gates, dim).
        from_c, from_h = (
            from_cell.split(batch_sizes, dim=-3),
            from_hidden.split(batch_sizes, dim=-3),
        )
        step_weight = weight.to(ctx.dtype)
        add_product = product_adder(d_hidden, ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            if highway and dropout_mask is not None:
                d_h[t].mul_(dropout_mask[:size])
            d_c[t].addcmul_(d_h[t], h_to_c[t])
            from_c[t].mul_(d_c[t].unsqueeze(-2))
            from_h[t].mul_(d_h[t].unsqueeze(-2))
            if t > 0:
                d_before = d_h[t - 1][..., :size, :]
                torch.mul(d_c[t], forget[t], out=d_c[t - 1][..., :size, :])
                if highway or dropout_mask is None:
                    add_product(d_before, d_rows[t], step_weight)
                else:
                    d_dropped = product(d_rows[t], step_weight, ctx.dtype)
                    d_before.addcmul_(d_dropped, dropout_mask[..., :size, :])
        previous = rows_before(hidden, batch_sizes)
        if highway:
            torch.mul(d_hidden, 1 - r, out=to_highway[1])
        elif dropout_mask is not None:
            previous *= torch.cat([dropout_mask[..., :size, :] for size in batch_sizes], dim=-2)
        return d_activations, product(d_gates.transpose(-1, -2), previous, ctx.dtype), None, None


class GruRecurrence(Function):
    """
    Computes a layer of `torch.nn.GRU` (Cho et al., 2014), for several directions at once:

        r, z = sigmoid(V_rz x_t + b_rz + W_rz h_{t-1} + c_rz)
        n = tanh(V_n x_t + b_n + r * (W_n h_{t-1} + c_n))
        h_t = (1 - z) * n + z * h_{t-1}

    `V x_t + b` is an argument, computed as one product for all rows. In both passes only values
    that depend on the previous or next time step are computed one step at a time.
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, bias: Tensor, batch_sizes: Sequence[int]
    ) -> Tensor:
        """
        Returns `h_t` of all packed rows, shape (directions, rows, dim), given `projected`, the `V
        x_t + b`, shape (directions, rows, 3 * dim), `weight`, the `W`, shape (directions, 3 * dim,
        dim), and `bias`, the `c`, shape (directions, 3 * dim).
        """
        directions, rows, dim = *projected.shape[:2], weight.size(2)
        dtype = autocast_dtype(weight)
        transposed, bias = weight.transpose(1, 2).contiguous().to(dtype), bias.unsqueeze(1)
        recurrent = torch.empty_like(projected)  # W h + c; its last third is kept for the gradient.
        gates = projected.clone()  # r, z and n, once they are activated.
        hidden = projected.new_empty(directions, rows, dim)
        h = projected.new_zeros(directions, batch_sizes[0], dim)
        of_r_and_z, of_n = recurrent.split([2 * dim, dim], dim=2)
        tensors = gates[..., : 2 * dim], *gates.chunk(3, dim=2), recurrent, of_r_and_z, of_n, hidden
        r_and_z, r, z, n, products, to_r_and_z, to_n, outputs = [
            tensor.split(batch_sizes, dim=1) for tensor in tensors
        ]
        add_product = product_adder(recurrent, dtype)
        for t, size in enumerate(batch_sizes):
            h = h[:, :size]
            add_product(products[t].copy_(bias), h, transposed)
            r_and_z[t].add_(to_r_and_z[t]).sigmoid_()
            n[t].addcmul_(r[t], to_n[t]).tanh_()
            h = torch.lerp(n[t], h, z[t], out=outputs[t])
        ctx.save_for_backward(weight, gates, of_n, hidden)
        ctx.batch_sizes, ctx.dtype = batch_sizes, dtype
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        weight, gates, to_n, hidden = ctx.saved_tensors
        batch_sizes, dim = ctx.batch_sizes, hidden.size(2)
        r, z, n = gates.chunk(3, dim=2)
        previous = rows_before(hidden, batch_sizes)
        # The derivatives of h_t by the summands of each gate before its activation: by V x_t + b
        # (last third: n), and by W h + c (last third: times r).
        by_n = (1 - n * n).mul_(1 - z)
        d_recurrent = torch.empty_like(gates)
        to_r, to_z, to_product = d_recurrent.chunk(3, dim=2)
        torch.mul(by_n * to_n, r - r * r, out=to_r)
        torch.mul(previous - n, z - z * z, out=to_z)
        torch.mul(by_n, r, out=to_product)
        d_hidden = d_outputs.clone()
        d_gates, d_rows, d_h, keep = [
            tensor.split(batch_sizes, dim=1)
            for tensor in (d_recurrent.unflatten(2, (3, dim)), d_recurrent, d_hidden, z)
        ]
        step_weight = weight.to(ctx.dtype)
        add_product = product_adder(d_hidden, ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            d_gates[t].mul_(d_h[t].unsqueeze(2))
            if t > 0:
                d_before = d_h[t - 1][:, :size]
                add_product(d_before.addcmul_(d_h[t], keep[t]), d_rows[t], step_weight)
        d_projected = torch.cat([d_recurrent[..., : 2 * dim], by_n.mul_(d_hidden)], dim=2)
        d_weight = product(d_recurrent.transpose(1, 2), previous, ctx.dtype)
        return d_projected, d_weight, d_recurrent.sum(dim=1), None


def product(left: Tensor, right: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns `left @ right`, computed in `dtype`, in the type of `left`."""
    return multiply(left.to(dtype), right.to(dtype)).to(left.dtype)


def product_adder(sums: Tensor, dtype: torch.dtype) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """
    Returns a function of (sums, left, right), matrices or batches of matrices like `sums`, that
    adds `left @ right` to the sums in place. `right` is in `dtype`, in which the product is
    computed.
    """
    if dtype != sums.dtype:
        return lambda sums, left, right: sums.add_(torch.matmul(left.to(dtype), right))
    return Tensor.addmm_ if sums.dim() == 2 else Tensor.baddbmm_
