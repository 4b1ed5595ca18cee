"""The interleaved LSTM of He et al. (2017): forward, backward, forward, …, with highway connections."""

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.nn.initializers import block_orthogonal
from torch import BoolTensor, Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm import autocast_dtype, first_derivative_only, pack, rows_before, rows_in_reverse
from elmo_plugin.common.errors import check_at_least
from elmo_plugin.encoders.recurrences import SizedEncoder, product, product_adder


class HighwayRecurrence(Function):
    """
    Computes the layer of He et al. (2017, section 2.2), in the form of AllenNLP's `AugmentedLstm`:

        i, f, j, o, r = V x_t + W h_{t-1} + b
        c_t = sigmoid(i) * tanh(j) + sigmoid(f) * c_{t-1}
        h_t = m * (sigmoid(r) * sigmoid(o) * tanh(c_t) + (1 - sigmoid(r)) * U x_t)

    The dropout mask m is from their equation 13: both the next time step and the next layer see the
    dropped values. `V x_t` and `U x_t` are one product for all rows. In both passes only values that depend
    on the previous or next time step are computed one step at a time.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        input_weight: Tensor,
        recurrent_weight: Tensor,
        recurrent_bias: Tensor,
        dropout_mask: Tensor | None,
        batch_sizes: Sequence[int],
    ) -> Tensor:
        """
        Returns `h_t` of all packed rows, shape (rows, hidden_size), for `x_t`, shape (rows, input_size).
        `input_weight`, shape (6 * hidden_size, input_size), is `V` with `U` below it. `recurrent_weight`,
        shape (5 * hidden_size, hidden_size), is `W`, and `recurrent_bias` is `b`. `dropout_mask`, shape
        (sentences, hidden_size), is `m` in packed order.
        """
        dim, dtype = recurrent_weight.size(1), autocast_dtype(recurrent_weight)
        activations = nn.functional.pad(recurrent_bias, (0, dim)).repeat(len(inputs), 1)
        add_product = product_adder(activations, dtype)
        add_product(activations, inputs, input_weight.t().to(dtype))
        # tanh(j) = 2 sigmoid(2 j) - 1: with the part of j doubled, one sigmoid activates all gates.
        weight = recurrent_weight.t().clone(memory_format=torch.contiguous_format)
        for tensor in (activations, weight):
            tensor[:, 2 * dim : 3 * dim] *= 2
        weight = weight.to(dtype)
        cells, tanh_cells, hidden = (inputs.new_empty(len(inputs), dim) for _ in range(3))
        cells[: batch_sizes[0]] = 0
        # Views of the rows of each time step.
        gates, i, f, j, o, r, carried, c, tanh_c, h = [
            rows.split(batch_sizes)
            for rows in (activations[:, : 5 * dim], *activations.chunk(6, dim=1), cells, tanh_cells, hidden)
        ]
        for t, size in enumerate(batch_sizes):
            if t > 0:
                add_product(gates[t], h[t - 1][:size], weight)
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
        ctx.batch_sizes, ctx.dtype = batch_sizes, dtype
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
        d_h, d_c, h_to_c, forget, from_c, from_h, d_gates_of = [
            rows.split(batch_sizes)
            for rows in (d_hidden, d_cells, hidden_to_cell, f, from_cell, from_hidden, d_gates)
        ]
        step_weight = recurrent_weight.to(ctx.dtype)
        add_product = product_adder(d_hidden, ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            if dropout_mask is not None:
                d_h[t].mul_(dropout_mask[:size])
            d_c[t].addcmul_(d_h[t], h_to_c[t])
            from_c[t].mul_(d_c[t].unsqueeze(1))
            from_h[t].mul_(d_h[t].unsqueeze(1))
            if t > 0:
                torch.mul(d_c[t], forget[t], out=d_c[t - 1][:size])
                add_product(d_h[t - 1][:size], d_gates_of[t], step_weight)
        torch.mul(d_hidden, 1 - r, out=d_carried)
        d_inputs = product(d_activations, input_weight, ctx.dtype) if ctx.needs_input_grad[0] else None
        d_input_weight = product(d_activations.t(), inputs, ctx.dtype)
        d_recurrent_weight = product(d_gates.t(), rows_before(hidden, batch_sizes), ctx.dtype)
        d_bias = d_activations.sum(dim=0)[: 5 * dim]
        return d_inputs, d_input_weight, d_recurrent_weight, d_bias, None, None


class HighwayLstmLayer(nn.Module):
    """
    One layer in one direction, with the parameters of AllenNLP's `AugmentedLSTMCell`: the matrices of its
    gates, one below the other, start as orthogonal, and the biases of its forget gate as ones. See
    `HighwayLstm` for the options.
    """

    def __init__(self, input_size: int, hidden_size: int, recurrent_dropout: float = 0.0) -> None:
        super().__init__()
        self.recurrent_dropout = recurrent_dropout
        self.input_linearity = nn.Linear(input_size, 6 * hidden_size, bias=False)
        self.state_linearity = nn.Linear(hidden_size, 5 * hidden_size)
        for linear in (self.input_linearity, self.state_linearity):
            block_orthogonal(linear.weight.data, [hidden_size, linear.in_features])
        nn.init.zeros_(self.state_linearity.bias)
        nn.init.ones_(self.state_linearity.bias[hidden_size : 2 * hidden_size])

    def forward(self, rows: Tensor, batch_sizes: list[int]) -> Tensor:
        """Returns shape (rows, hidden_size) for packed rows of shape (rows, input_size)."""
        mask = None
        if self.training and self.recurrent_dropout:
            ones = rows.new_ones(batch_sizes[0], self.state_linearity.in_features)
            mask = nn.functional.dropout(ones, self.recurrent_dropout)
        return HighwayRecurrence.apply(
            rows,
            self.input_linearity.weight,
            self.state_linearity.weight,
            self.state_linearity.bias,
            mask,
            batch_sizes,
        )


@Seq2SeqEncoder.register("highway_lstm")
class HighwayLstm(SizedEncoder):
    """
    LSTM layers with highway connections: the first reads forward, the second backward, and so on (He et al.,
    2017). A faster `alternating_lstm` of AllenNLP with `use_input_projection_bias: false`, except for
    recurrent dropout; loads its weights.

    Registered as a `Seq2SeqEncoder` with name "highway_lstm".

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_size : `int`
        The number of cells of each layer.
    num_layers : `int`
        The number of layers.
    recurrent_dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the output vectors of each layer, with the same mask for all time steps of a
        sentence, for the next time step and the next layer (He et al., 2017, equation 13). AllenNLP 2 drops
        only for the next time step.

    Raises `ConfigurationError` if there are no layers.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int, *, recurrent_dropout: float = 0.0
    ) -> None:
        super().__init__(input_size, hidden_size, is_bidirectional=False)
        check_at_least("highway_lstm: num_layers", num_layers, error=ConfigurationError)
        sizes = [input_size, *[hidden_size] * (num_layers - 1)]
        self.layers = nn.ModuleList(HighwayLstmLayer(size, hidden_size, recurrent_dropout) for size in sizes)

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """
        Returns shape (batch, time, hidden_size), zeros at padding, for shape (batch, time, input_size). The
        padding comes after the words.
        """
        lengths = mask.sum(dim=1)
        packing = pack(lengths)
        # In the type of the parameters, whatever autocast has made of the inputs.
        inputs = inputs.to(next(self.parameters()).dtype)
        outputs = inputs.new_zeros(*mask.shape, self.get_output_dim())
        if not packing.batch_sizes:
            return outputs
        # A layer in the other direction reads the same rows in another order, its own inverse.
        reverse = rows_in_reverse(packing, lengths)
        rows = inputs[packing.sentence, packing.time]  # Shape: (rows, input_size)
        for number, layer in enumerate(self.layers):
            rows = layer(rows if number == 0 else rows[reverse], packing.batch_sizes)
        if len(self.layers) % 2 == 0:
            rows = rows[reverse]
        outputs[packing.sentence, packing.time] = rows
        return outputs

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        for name in [name for name in state_dict if name.startswith(f"{prefix}_module.layer_")]:
            number, parameter = name.removeprefix(f"{prefix}_module.layer_").split(".cell.")
            state_dict[f"{prefix}layers.{number}.{parameter}"] = state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, *args)
