"""The `augmented_lstm` encoders that AllenNLP 2.10.1 registers but cannot use."""

from typing import cast

from allennlp.modules import Seq2SeqEncoder, Seq2VecEncoder
from allennlp.modules.augmented_lstm import AugmentedLstm
from allennlp.modules.seq2seq_encoders import AugmentedLstmSeq2SeqEncoder
from allennlp.modules.seq2vec_encoders import AugmentedLstmSeq2VecEncoder
from overrides import overrides


def _lstm(encoder: AugmentedLstmSeq2SeqEncoder | AugmentedLstmSeq2VecEncoder) -> AugmentedLstm:
    """Returns the LSTM inside an encoder; AllenNLP declares it as any module."""
    return cast(AugmentedLstm, encoder._module)


@Seq2SeqEncoder.register("old_augmented_lstm")
class OldAugmentedLstmSeq2SeqEncoder(AugmentedLstmSeq2SeqEncoder):
    """
    An `AugmentedLstmSeq2SeqEncoder` that knows its sizes. AllenNLP's looks for attributes that its
    LSTM lost in version 1.0, and raises an `AttributeError`.

    Registered as a `Seq2SeqEncoder` with name "old_augmented_lstm". It has the same parameters.
    """

    @overrides
    def get_input_dim(self) -> int:
        return _lstm(self).embed_dim

    @overrides
    def get_output_dim(self) -> int:
        return _lstm(self).lstm_dim


@Seq2VecEncoder.register("old_augmented_lstm")
class OldAugmentedLstmSeq2VecEncoder(AugmentedLstmSeq2VecEncoder):
    """
    An `AugmentedLstmSeq2VecEncoder` that knows its sizes, as `OldAugmentedLstmSeq2SeqEncoder` does.

    Registered as a `Seq2VecEncoder` with name "old_augmented_lstm". It has the same parameters.
    """

    @overrides
    def get_input_dim(self) -> int:
        return _lstm(self).embed_dim

    @overrides
    def get_output_dim(self) -> int:
        return _lstm(self).lstm_dim
