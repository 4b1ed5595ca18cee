"""The interleaved LSTM of He et al. (2017): forward, backward, forward, …, with highway connections."""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.nn.initializers import block_orthogonal
from overrides import overrides
from torch import BoolTensor, Tensor, nn

from elmo_plugin.bilm import pack, rows_in_reverse
from elmo_plugin.encoders.recurrences import HighwayRecurrence


class HighwayLstmLayer(nn.Module):
    """
    One layer in one direction, with the parameters of AllenNLP's `AugmentedLSTMCell`: the matrices of its
    gates, one below the other, start as orthogonal, and the biases of its forget gate as ones.

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_size : `int`
        The number of cells, and the size of the output vectors.
    recurrent_dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the output vectors, with the same mask for all time steps of a sentence: the
        next time step and the next layer see what is dropped (He et al., 2017, equation 13). AllenNLP 2 drops
        only what the next time step sees.
    input_bias : `bool`, optional (default = `False`)
        Whether the products with the inputs have biases next to those of the products with hidden states.
    """

    def __init__(
        self, input_size: int, hidden_size: int, *, recurrent_dropout: float = 0.0, input_bias: bool = False
    ) -> None:
        super().__init__()
        self.recurrent_dropout = recurrent_dropout
        self.input_linearity = nn.Linear(input_size, 6 * hidden_size, bias=input_bias)
        self.state_linearity = nn.Linear(hidden_size, 5 * hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Gives all parameters their initial values."""
        for linear in (self.input_linearity, self.state_linearity):
            size = self.state_linearity.in_features
            block_orthogonal(linear.weight.data, [size, linear.in_features])
        nn.init.zeros_(self.state_linearity.bias)
        nn.init.ones_(self.state_linearity.bias[size : 2 * size])

    def forward(self, rows: Tensor, batch_sizes: list[int]) -> Tensor:
        """
        # Parameters

        rows : `Tensor`
            The input vectors, packed (see `elmo_plugin.bilm.Packing`). Shape (rows, input_size).
        batch_sizes : `list[int]`
            The number of rows of each time step.

        # Returns

        `Tensor`
            Shape (rows, hidden_size).
        """
        mask = None
        if self.training and self.recurrent_dropout:
            ones = rows.new_ones(batch_sizes[0], self.state_linearity.in_features)
            mask = nn.functional.dropout(ones, self.recurrent_dropout)
        return HighwayRecurrence.apply(
            rows,
            self.input_linearity.weight,
            self.input_linearity.bias,
            self.state_linearity.weight,
            self.state_linearity.bias,
            mask,
            batch_sizes,
        )


@Seq2SeqEncoder.register("highway_lstm")
class HighwayLstm(Seq2SeqEncoder):
    """
    LSTM layers with highway connections, of which the first reads forward, the second backward, and so on
    (He et al., 2017). Computes faster what AllenNLP's `alternating_lstm` does, except for recurrent
    dropout, and loads its weights.

    Registered as a `Seq2SeqEncoder` with name "highway_lstm".

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_size : `int`
        The number of cells of each layer.
    num_layers : `int`
        The number of layers.
    recurrent_dropout : `float`, optional (default = `0.0`)
        See `HighwayLstmLayer`.
    input_bias : `bool`, optional (default = `False`)
        See `HighwayLstmLayer`. AllenNLP's `use_input_projection_bias`, which is true unless a configuration
        sets it.

    Raises `ConfigurationError` where there are no layers.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        *,
        recurrent_dropout: float = 0.0,
        input_bias: bool = False,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ConfigurationError(f"highway_lstm: num_layers is at least 1, not {num_layers}")
        sizes = [input_size, *[hidden_size] * (num_layers - 1)]
        self.layers = nn.ModuleList(
            HighwayLstmLayer(size, hidden_size, recurrent_dropout=recurrent_dropout, input_bias=input_bias)
            for size in sizes
        )
        self._input_dim, self._output_dim = input_size, hidden_size

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`
            Shape (batch, time, input_size).
        mask : `BoolTensor`
            Shape (batch, time), true at the words, which come before the padding.

        # Returns

        `Tensor`
            Shape (batch, time, hidden_size), zeros at padding.
        """
        lengths = mask.sum(dim=1)
        packing = pack(lengths)
        # In the type of the parameters, whatever autocast has made of the inputs.
        inputs = inputs.to(next(self.parameters()).dtype)
        outputs = inputs.new_zeros(*mask.shape, self._output_dim)
        if not packing.batch_sizes:
            return outputs
        # A layer in the other direction reads the same rows in another order, which is its own inverse.
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

    @overrides
    def get_input_dim(self) -> int:
        return self._input_dim

    @overrides
    def get_output_dim(self) -> int:
        return self._output_dim

    @overrides
    def is_bidirectional(self) -> bool:
        return False
