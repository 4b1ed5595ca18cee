"""The interleaved LSTM of He et al. (2017): forward, backward, forward, …, with highway
connections.
"""

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.nn.initializers import block_orthogonal
from torch import BoolTensor, Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm import autocast_dtype, first_derivative_only, rows_before
from elmo_plugin.common.errors import check_at_least
from elmo_plugin.encoders.recurrences import (
    double_g_and_transpose,
    draw_mask,
    pack_rows,
    product,
    product_adder,
    write_derivatives_of_cells,
)
from elmo_plugin.encoders.sized_encoder import SizedEncoder, check_rate


@Seq2SeqEncoder.register("highway_lstm")
class HighwayLstm(SizedEncoder):
    """
    LSTM layers with highway connections: the first reads forward, the second backward, and so on
    (He et al., 2017). Apart from recurrent dropout, it computes the same as AllenNLP's
    `alternating_lstm` with `use_input_projection_bias: false`, but faster. It also loads the
    weights of an `alternating_lstm`.

    Registered as a `Seq2SeqEncoder` with name "highway_lstm".

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_size : `int`
        The number of cells of each layer.
    num_layers : `int`
        The number of layers.
    recurrent_dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the output vectors of each layer, with the same mask for all time
        steps of a sentence. The next time step and the next layer both read the vectors after
        dropout (He et al., 2017, equation 13). In AllenNLP 2, only the next time step does.

    Raises `ConfigurationError` if there are no layers or cells, or for an impossible rate.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int, *, recurrent_dropout: float = 0.0
    ) -> None:
        super().__init__(input_size, hidden_size, is_bidirectional=False)
        check_at_least("highway_lstm: hidden_size", hidden_size, least=1, error=ConfigurationError)
        check_at_least("highway_lstm: num_layers", num_layers, least=1, error=ConfigurationError)
        check_rate("highway_lstm: recurrent_dropout", recurrent_dropout)
        self.layers = nn.ModuleList()
        layer_input_size = input_size
        for _ in range(num_layers):
            layer = HighwayLstmLayer(layer_input_size, hidden_size, recurrent_dropout)
            self.layers.append(layer)
            layer_input_size = hidden_size

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """
        Encodes sentences of shape (batch, time, input_size) with the padding after the words.
        Returns shape (batch, time, hidden_size), zeros at padding.
        """
        packed = pack_rows(self, inputs, mask)
        outputs = packed.rows.new_zeros(*mask.shape, self.get_output_dim())
        if not packed.batch_sizes:  # no sentence has a word
            return outputs
        rows = packed.rows
        for number, layer in enumerate(self.layers):
            if number > 0:  # each layer reads in the opposite direction of the layer before
                rows = rows[packed.reverse]
            rows = layer(rows, packed.batch_sizes)  # Shape: (rows, hidden_size)
        ends_backward = len(self.layers) % 2 == 0
        if ends_backward:
            rows = rows[packed.reverse]
        outputs[packed.row_positions] = rows
        return outputs

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Loads weights, also of AllenNLP's `alternating_lstm`: their names are changed first."""
        allennlp_prefix = f"{prefix}_module.layer_"
        for name in list(state_dict):
            if name.startswith(allennlp_prefix):
                # Such as "0.cell.input_linearity.weight".
                number, parameter = name.removeprefix(allennlp_prefix).split(".cell.")
                state_dict[f"{prefix}layers.{number}.{parameter}"] = state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, *args)


class HighwayLstmLayer(nn.Module):
    """
    One layer in one direction, with the parameters of AllenNLP's `AugmentedLSTMCell`: the matrices
    of its gates, one below the other, start as orthogonal, and the biases of its forget gate as
    ones. See `HighwayLstm` for the options.
    """

    def __init__(self, input_size: int, hidden_size: int, recurrent_dropout: float) -> None:
        super().__init__()
        self.recurrent_dropout = recurrent_dropout
        # The inputs are part of the five gates and of u_t, the hidden state of the gates only.
        self.input_linearity = nn.Linear(input_size, 6 * hidden_size, bias=False)
        self.state_linearity = nn.Linear(hidden_size, 5 * hidden_size)
        for linear in (self.input_linearity, self.state_linearity):
            block_orthogonal(linear.weight.data, [hidden_size, linear.in_features])
        nn.init.zeros_(self.state_linearity.bias)
        forget_bias = self.state_linearity.bias[hidden_size : 2 * hidden_size]
        nn.init.ones_(forget_bias)

    def forward(self, rows: Tensor, batch_sizes: list[int]) -> Tensor:
        """
        Returns the hidden states, shape (rows, hidden_size), of packed rows, shape (rows,
        input_size), in the order in which they are read. `batch_sizes` are the numbers of rows of
        each time step.
        """
        recurrent_weight = self.state_linearity.weight  # Shape: (5 * hidden_size, hidden_size)
        hidden_size = recurrent_weight.size(1)
        rate = 0.0
        if self.training:
            rate = self.recurrent_dropout
        num_sentences = batch_sizes[0]
        dropout_mask = draw_mask(rows, rate, num_sentences, hidden_size)
        # Only the gates have biases. The last of the six parts, u_t, gets zeros.
        biases = nn.functional.pad(self.state_linearity.bias, (0, hidden_size))
        # Shape: (rows, 6 * hidden_size)
        activations = InputProduct.apply(rows, self.input_linearity.weight, biases)
        return HighwayLstmRecurrence.apply(activations, recurrent_weight, batch_sizes, dropout_mask)


class InputProduct(Function):
    """
    Computes `inputs @ weight.t() + bias` for all rows. Under autocast, only the products are
    computed in autocast's type, in both passes. `nn.functional.linear` would also round the sums.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """
        Returns shape (rows, outputs) for inputs of shape (rows, inputs), a weight of shape
        (outputs, inputs) and a bias of shape (outputs,).
        """
        ctx.save_for_backward(inputs, weight)
        ctx.dtype = autocast_dtype(weight)
        # Each row begins as the bias, and the product is added to it in place.
        sums = bias.repeat(len(inputs), 1)  # Shape: (rows, outputs)
        add_product = product_adder(sums, ctx.dtype)
        return add_product(sums, inputs, weight.t().to(ctx.dtype))

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_sums: Tensor) -> tuple[Tensor | None, ...]:
        """Returns the gradients of the inputs, if they need them, of the weight and of the bias."""
        inputs, weight = ctx.saved_tensors
        d_inputs = None
        if ctx.needs_input_grad[0]:
            d_inputs = product(d_sums, weight, ctx.dtype)
        d_weight = product(d_sums.t(), inputs, ctx.dtype)
        d_bias = d_sums.sum(dim=0)
        return d_inputs, d_weight, d_bias


class HighwayLstmRecurrence(Function):
    """
    Computes a layer of He et al. (2017, section 2.2), in the form of AllenNLP's `AugmentedLstm`:

        i, f, g, o, r = a_t + W h_{t-1}
        c_t = sigmoid(f) * c_{t-1} + sigmoid(i) * tanh(g)
        h_t = m * (sigmoid(r) * sigmoid(o) * tanh(c_t) + (1 - sigmoid(r)) * u_t)

    The highway connection carries u_t. The dropout mask m is from their equation 13: the next time
    step and the next layer both read h_t after dropout. The caller computes `a_t`, the part of the
    inputs with all biases, and `u_t`, as one product for all rows. In both passes only values that
    depend on the previous or next time step are computed one step at a time.
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
        Returns `h_t` of all packed rows, shape (rows, dim), in the order in which they are read.
        `activations` are the `a_t` and `u_t`, shape (rows, 6 * dim); they are changed in place.
        `weight` is the `W`, shape (5 * dim, dim), and `dropout_mask` the `m`, shape (sentences,
        dim), in packed order.
        """
        dim = weight.size(1)
        dtype = autocast_dtype(weight)
        # With g doubled in `activations` and in the transposed weight, one sigmoid can activate all
        # five gates, because tanh(g) = 2 sigmoid(2 g) - 1.
        transposed = double_g_and_transpose(weight, activations).to(dtype)
        cells, tanh_cells, hidden = activations.new_empty(3, len(activations), dim)
        cells[: batch_sizes[0]] = 0  # no cell comes before the first time step
        # Views of the rows of each time step. The first five parts are the gates, the sixth is `u`.
        gates = activations[:, : 5 * dim].split(batch_sizes)
        i, f, g, o, r, u = [columns.split(batch_sizes) for columns in activations.chunk(6, dim=1)]
        c = cells.split(batch_sizes)
        tanh_c = tanh_cells.split(batch_sizes)
        h = hidden.split(batch_sizes)
        add_product = product_adder(activations, dtype)
        for t, size in enumerate(batch_sizes):
            if t > 0:
                add_product(gates[t], h[t - 1][:size], transposed)
            gates[t].sigmoid_()
            if t > 0:
                torch.mul(f[t], c[t - 1][:size], out=c[t])
            # `g[t]` is sigmoid(2 g) here. Adds i * tanh(g) = i * (2 sigmoid(2 g) - 1).
            c[t].sub_(i[t]).addcmul_(i[t], g[t], value=2)
            torch.tanh(c[t], out=tanh_c[t])
            # The highway: r * (o * tanh(c)) + (1 - r) * u.
            torch.lerp(u[t], o[t] * tanh_c[t], r[t], out=h[t])
            if dropout_mask is not None:
                h[t].mul_(dropout_mask[:size])
        ctx.save_for_backward(weight, activations, cells, tanh_cells, hidden, dropout_mask)
        ctx.batch_sizes = batch_sizes
        ctx.dtype = dtype
        return hidden

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """
        Returns the gradients of the activations and the weight, by the chain rule. First, the
        derivatives dc_t/di, dc_t/df, dc_t/dg, dh_t/do and dh_t/dr are computed for all rows at
        once. Then a loop, from the last time step to the first, computes the gradients of c_t and
        h_t, and multiplies the derivatives by them.
        """
        weight, activations, cells, tanh_cells, hidden, dropout_mask = ctx.saved_tensors
        batch_sizes = ctx.batch_sizes
        dim = hidden.size(1)
        gates, carried = activations.split([5 * dim, dim], dim=1)
        _, f, _, o, r = gates.chunk(5, dim=1)  # after their sigmoids
        d_activations = torch.empty_like(activations)
        d_gates, d_carried = d_activations.split([5 * dim, dim], dim=1)
        cells_before = rows_before(cells, batch_sizes)
        # `d_gates` holds derivatives until the loop multiplies them by gradients, in place.
        _write_derivatives_by_gates(gates, carried, cells_before, tanh_cells, d_gates)
        hidden_by_cell = (1 - tanh_cells * tanh_cells).mul_(r).mul_(o)
        d_hidden = d_outputs.clone()
        d_cells = torch.zeros_like(cells)
        # i, f and g act on the cell, o and r on the hidden state.
        # Shapes: (rows, 3, dim) and (rows, 2, dim)
        d_gates_of_cell, d_gates_of_hidden = d_gates.unflatten(1, (5, dim)).split([3, 2], dim=1)
        # Views of the rows of each time step.
        d_h = d_hidden.split(batch_sizes)
        d_c = d_cells.split(batch_sizes)
        h_by_c = hidden_by_cell.split(batch_sizes)
        forget = f.split(batch_sizes)
        d_a = d_gates.split(batch_sizes)
        d_ifg = d_gates_of_cell.split(batch_sizes)
        d_or = d_gates_of_hidden.split(batch_sizes)
        step_weight = weight.to(ctx.dtype)
        add_product = product_adder(d_hidden, ctx.dtype)
        for t, size in reversed(list(enumerate(batch_sizes))):
            if dropout_mask is not None:
                d_h[t].mul_(dropout_mask[:size])
            d_c[t].addcmul_(d_h[t], h_by_c[t])
            d_ifg[t].mul_(d_c[t].unsqueeze(1))
            d_or[t].mul_(d_h[t].unsqueeze(1))
            if t > 0:
                # The gradients flow back to the cell and the hidden state of the time step before.
                torch.mul(d_c[t], forget[t], out=d_c[t - 1][:size])
                add_product(d_h[t - 1][:size], d_a[t], step_weight)
        torch.mul(d_hidden, 1 - r, out=d_carried)
        d_weight = product(d_gates.t(), rows_before(hidden, batch_sizes), ctx.dtype)
        # The batch sizes and the dropout mask have no gradients.
        return d_activations, d_weight, None, None


def _write_derivatives_by_gates(
    gates: Tensor, carried: Tensor, cells_before: Tensor, tanh_cells: Tensor, derivatives: Tensor
) -> None:
    """
    Writes derivatives with respect to the pre-activations of the gates: the cell is differentiated
    for i, f and g, and the hidden state for o and r. `gates` are the five sigmoids, and `carried`
    are the `u_t`. `derivatives` have the shape of the gates, (rows, 5 * dim).
    """
    write_derivatives_of_cells(gates, cells_before, derivatives)
    _, _, _, o, r = gates.chunk(5, dim=1)
    _, _, _, h_by_o, h_by_r = derivatives.chunk(5, dim=1)
    h_by_o.mul_(r).mul_(tanh_cells)
    h_by_r.mul_(o * tanh_cells - carried)
