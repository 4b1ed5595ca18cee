"""A bidirectional GRU that trains faster than torch's on a CPU."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import BoolTensor, Tensor, nn

from elmo_plugin.encoders.recurrences import GruRecurrence, SizedEncoder, read_both_ways


@Seq2SeqEncoder.register("bidirectional_gru")
class BidirectionalGru(SizedEncoder):
    """
    A layer of a GRU that reads in both directions. It equals AllenNLP's `gru` with `bidirectional`, runs both
    directions at once, and loads its weights.

    Registered as a `Seq2SeqEncoder` with name "bidirectional_gru".

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_size : `int`
        The number of cells of each direction.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, 2 * hidden_size, is_bidirectional=True)
        # The parameters have the names of AllenNLP's encoder.
        self._module = nn.GRU(input_size, hidden_size, bidirectional=True)

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """
        Returns shape (batch, time, 2 * hidden_size), zeros at padding, for shape (batch, time, input_size).
        The padding comes after the words.
        """
        return read_both_ways(self._module, GruRecurrence.apply, inputs, mask)
