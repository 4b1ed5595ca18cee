"""Bidirectional layers: LSTMs with dropout that drops the same values at every time step, and a
GRU.
"""

from typing import cast

from allennlp.common.checks import ConfigurationError
from allennlp.modules.input_variational_dropout import InputVariationalDropout
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import BoolTensor, Tensor, nn

from elmo_plugin.encoders.recurrences import SizedEncoder, check_rate, read_both_ways


@Seq2SeqEncoder.register("variational_bilstm")
class VariationalBiLstm(SizedEncoder):
    """
    Bidirectional LSTM layers of any sizes, with variational dropout (Gal and Ghahramani, 2016) on
    the input of each layer: one mask for all time steps of a sentence.

    Registered as a `Seq2SeqEncoder` with name "variational_bilstm".

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_sizes : `list[int]`
        For each layer, from the bottom, the number of cells of each direction.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the input of each layer.
    recurrent_dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the hidden state that each time step takes from the one before, with
        one mask for all time steps of a sentence, layer and direction.
    """

    def __init__(
        self,
        input_size: int,
        hidden_sizes: list[int],
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
    ) -> None:
        if not hidden_sizes or min(hidden_sizes) < 1:
            raise ConfigurationError(
                "variational_bilstm: hidden_sizes: expected the size of each layer, got "
                f"{hidden_sizes}"
            )
        check_rate("variational_bilstm: recurrent_dropout", recurrent_dropout)
        output_dim = 2 * hidden_sizes[-1]  # both directions of the last layer
        super().__init__(input_size, output_dim, is_bidirectional=True)
        self.dropout = InputVariationalDropout(dropout)
        self.recurrent_dropout = recurrent_dropout
        self.layers = nn.ModuleList()
        layer_input_size = input_size
        for hidden_size in hidden_sizes:
            lstm = nn.LSTM(layer_input_size, hidden_size, batch_first=True, bidirectional=True)
            self.layers.append(lstm)
            layer_input_size = 2 * hidden_size  # both directions of this layer

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """
        Encodes sentences of shape (batch, time, input_size) with the padding after the words.
        Returns shape (batch, time, output_dim), zeros at padding.
        """
        recurrent_dropout = 0.0
        if self.training:
            recurrent_dropout = self.recurrent_dropout
        vectors = inputs
        for layer in self.layers:
            dropped = self.dropout(vectors)
            vectors = read_both_ways(cast(nn.LSTM, layer), dropped, mask, recurrent_dropout)
        return vectors


@Seq2SeqEncoder.register("bidirectional_gru")
class BidirectionalGru(SizedEncoder):
    """
    A layer of a GRU that reads in both directions. It computes the same as AllenNLP's encoder `gru`
    with `bidirectional`, and weights of that encoder can be loaded. But it runs both directions at
    once.

    Registered as a `Seq2SeqEncoder` with name "bidirectional_gru".

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_size : `int`
        The number of cells of each direction.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        output_dim = 2 * hidden_size  # both directions
        super().__init__(input_size, output_dim, is_bidirectional=True)
        # AllenNLP's encoder has the same name for it, so its weights can be loaded.
        self._module = nn.GRU(input_size, hidden_size, bidirectional=True)

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """
        Encodes sentences of shape (batch, time, input_size) with the padding after the words.
        Returns shape (batch, time, output_dim), zeros at padding.
        """
        return read_both_ways(self._module, inputs, mask)
