"""The interleaved LSTM of He et al. (2017): forward, backward, forward, …, with highway
connections.
"""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.nn.initializers import block_orthogonal
from torch import BoolTensor, Tensor, nn

from elmo_plugin.common.errors import check_at_least
from elmo_plugin.encoders.recurrences import (
    InputProduct,
    LstmRecurrence,
    SizedEncoder,
    draw_mask,
    pack_rows,
)


class HighwayLstmLayer(nn.Module):
    """
    One layer in one direction, with the parameters of AllenNLP's `AugmentedLSTMCell`: the matrices
    of its gates, one below the other, start as orthogonal, and the biases of its forget gate as
    ones. See `HighwayLstm` for the options.
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
        weight, bias = self.state_linearity.weight, self.state_linearity.bias
        rate = self.recurrent_dropout if self.training else 0.0
        mask = draw_mask(rows, rate, batch_sizes[0], weight.size(1))
        biases = nn.functional.pad(bias, (0, weight.size(1)))  # the highway connection has no bias
        activations = InputProduct.apply(rows, self.input_linearity.weight, biases)
        return LstmRecurrence.apply(activations, weight, batch_sizes, mask)


@Seq2SeqEncoder.register("highway_lstm")
class HighwayLstm(SizedEncoder):
    """
    LSTM layers with highway connections: the first reads forward, the second backward, and so on
    (He et al., 2017). A faster `alternating_lstm` of AllenNLP with `use_input_projection_bias:
    false`, except for recurrent dropout; loads its weights.

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
        steps of a sentence, for the next time step and the next layer (He et al., 2017, equation
        13). AllenNLP 2 drops only for the next time step.

    Raises `ConfigurationError` if there are no layers.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int, *, recurrent_dropout: float = 0.0
    ) -> None:
        super().__init__(input_size, hidden_size, is_bidirectional=False)
        check_at_least("highway_lstm: num_layers", num_layers, error=ConfigurationError)
        sizes = [input_size, *[hidden_size] * (num_layers - 1)]
        self.layers = nn.ModuleList(
            HighwayLstmLayer(size, hidden_size, recurrent_dropout) for size in sizes
        )

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """Returns shape (batch, time, hidden_size), zeros at padding after the words."""
        rows, reverse, places, batch_sizes = pack_rows(self, inputs, mask)
        outputs = rows.new_zeros(*mask.shape, self.get_output_dim())
        if not batch_sizes:
            return outputs
        # A layer in the other direction reads the same rows in another order.
        for number, layer in enumerate(self.layers):
            rows = layer(rows if number == 0 else rows[reverse], batch_sizes)
        if len(self.layers) % 2 == 0:
            rows = rows[reverse]
        outputs[places] = rows
        return outputs

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        for name in [name for name in state_dict if name.startswith(f"{prefix}_module.layer_")]:
            number, parameter = name.removeprefix(f"{prefix}_module.layer_").split(".cell.")
            state_dict[f"{prefix}layers.{number}.{parameter}"] = state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, *args)
