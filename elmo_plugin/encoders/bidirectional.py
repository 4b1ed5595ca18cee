"""Bidirectional layers: LSTMs with dropout that drops the same values at every time step, and a
GRU.
"""

from typing import cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.input_variational_dropout import InputVariationalDropout
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import BoolTensor, Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_plugin.encoders.recurrences import (
    GruRecurrence,
    LstmRecurrence,
    PackedRows,
    draw_mask,
    pack_rows,
)
from elmo_plugin.encoders.sized_encoder import SizedEncoder, check_rate


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


def read_both_ways(
    layer: nn.RNNBase, inputs: Tensor, mask: BoolTensor, recurrent_dropout: float = 0.0
) -> Tensor:
    """
    Runs one bidirectional layer of torch over sentences, shape (batch, time, input_size), and reads
    each from both of its ends. Returns vectors of shape (batch, time, 2 * hidden_size), zeros at
    the padding on the right.

    `recurrent_dropout`, for LSTMs only, is the rate of dropout on the hidden state that each time
    step takes from the one before, with one mask for all time steps of a sentence (Gal and
    Ghahramani, 2016).
    """
    # Our recurrences are faster than torch's only on a CPU, with gradients. But torch's
    # layers do not offer recurrent dropout.
    is_torch_faster = inputs.is_cuda or not torch.is_grad_enabled()
    if is_torch_faster and recurrent_dropout == 0:
        return read_by_torch(layer, inputs, mask)
    packed = pack_rows(layer, inputs, mask)
    outputs = packed.rows.new_zeros(*mask.shape, 2 * layer.hidden_size)
    if not packed.batch_sizes:  # no sentence has a word
        return outputs
    forward_hidden, backward_hidden = _run_recurrence(layer, packed, recurrent_dropout)
    in_forward_order = backward_hidden[packed.reverse]
    # Shape: (batch, time, 2 * hidden_size)
    outputs[packed.row_positions] = torch.cat([forward_hidden, in_forward_order], dim=1)
    return outputs


def _run_recurrence(layer: nn.RNNBase, packed: PackedRows, recurrent_dropout: float) -> Tensor:
    """
    Returns the hidden states of packed rows, shape (directions, rows, hidden_size), each direction
    in the order in which it reads.
    """
    # Stacks the parameters of both directions. torch has the four of each direction in this order.
    forward_parameters, backward_parameters = layer.all_weights
    input_weight, weight, input_bias, bias = [
        torch.stack(pair) for pair in zip(forward_parameters, backward_parameters, strict=True)
    ]
    # One product for both directions, shape (rows, directions * gates * hidden_size).
    products = nn.functional.linear(packed.rows, input_weight.flatten(0, 1), input_bias.flatten())
    forward, backward = products.to(packed.rows.dtype).chunk(2, dim=1)
    projected = torch.stack([forward, backward[packed.reverse]])  # Shape: (directions, rows, ...)
    if isinstance(layer, nn.GRU):
        return GruRecurrence.apply(projected, weight, bias, packed.batch_sizes)
    num_sentences = packed.batch_sizes[0]
    mask_shape = (2, num_sentences, layer.hidden_size)  # 2 directions
    dropout_mask = draw_mask(packed.rows, recurrent_dropout, *mask_shape)
    activations = projected + bias.unsqueeze(1)
    return LstmRecurrence.apply(activations, weight, packed.batch_sizes, dropout_mask)


def read_by_torch(layer: nn.RNNBase, inputs: Tensor, mask: BoolTensor) -> Tensor:
    """Does what `read_both_ways` does, without recurrent dropout, by torch's own operations."""
    # torch refuses sentences without words. It reads them as if they had one, and the last line
    # here sets their vectors to zero.
    lengths = mask.sum(dim=1).clamp(min=1).cpu()
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    packed_outputs, _ = layer(packed)
    outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True, total_length=mask.size(1))
    return outputs.masked_fill(~mask.unsqueeze(-1), 0.0)
