"""A bidirectional GRU that trains faster than torch's on a CPU."""

from typing import cast

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from overrides import overrides
from torch import BoolTensor, Tensor, nn

from elmo_plugin.bilm import pack, rows_in_reverse
from elmo_plugin.encoders.gru_recurrence import GruRecurrence

SUFFIXES = ("l0", "l0_reverse")


@Seq2SeqEncoder.register("bidirectional_gru")
class BidirectionalGru(Seq2SeqEncoder):
    """
    A layer of a GRU that reads in both directions. Computes what AllenNLP's `gru` with `bidirectional` does,
    both directions at once, and loads its weights.

    Registered as a `Seq2SeqEncoder` with name "bidirectional_gru".

    # Parameters

    input_size : `int`
        The size of the input vectors.
    hidden_size : `int`
        The number of cells of each direction.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        # It owns the parameters, with the names that AllenNLP's encoder gives them.
        self._module = nn.GRU(input_size, hidden_size, bidirectional=True)

    def forward(self, inputs: Tensor, mask: BoolTensor) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`
            Shape (batch, time, input_size).
        mask : `BoolTensor`
            Shape (batch, time), true at the words, which come before the padding.

        # Returns

        `Tensor`
            Shape (batch, time, 2 * hidden_size), zeros at padding.
        """
        lengths = mask.sum(dim=1)
        packing = pack(lengths)
        # In the type of the parameters, whatever autocast has made of the inputs.
        inputs = inputs.to(next(self.parameters()).dtype)
        outputs = inputs.new_zeros(*mask.shape, self.get_output_dim())
        if not packing.batch_sizes:
            return outputs
        reverse = rows_in_reverse(packing, lengths)
        rows = inputs[packing.sentence, packing.time]  # Shape: (rows, input_size)
        with torch.autocast(inputs.device.type, enabled=False):
            forward, backward = (
                nn.functional.linear(
                    rows, self._parameter("weight_ih", suffix), self._parameter("bias_ih", suffix)
                )
                for suffix in SUFFIXES
            )
            hidden = GruRecurrence.apply(
                torch.stack([forward, backward[reverse]]),
                torch.stack([self._parameter("weight_hh", suffix) for suffix in SUFFIXES]),
                torch.stack([self._parameter("bias_hh", suffix) for suffix in SUFFIXES]),
                packing.batch_sizes,
            )
        outputs[packing.sentence, packing.time] = torch.cat([hidden[0], hidden[1][reverse]], dim=1)
        return outputs

    def _parameter(self, name: str, suffix: str) -> Tensor:
        return cast(Tensor, getattr(self._module, f"{name}_{suffix}"))

    @overrides
    def get_input_dim(self) -> int:
        return self._module.input_size

    @overrides
    def get_output_dim(self) -> int:
        return 2 * self._module.hidden_size

    @overrides
    def is_bidirectional(self) -> bool:
        return True
