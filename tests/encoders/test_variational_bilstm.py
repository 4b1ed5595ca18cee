"""What the dropout of the variational biLSTM drops; `test_recurrences.py` has its layers."""

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from elmo_plugin.encoders.bidirectional import VariationalBiLstm

INPUT_SIZE = 5


def mask_of(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def encoder_with(
    hidden_sizes: list[int], dropout: float = 0.0, recurrent_dropout: float = 0.0
) -> VariationalBiLstm:
    torch.manual_seed(0)
    return VariationalBiLstm(INPUT_SIZE, hidden_sizes, dropout, recurrent_dropout)


def inputs_of_layers(
    encoder: VariationalBiLstm, inputs: Tensor, mask: Tensor
) -> list[PackedSequence]:
    """What each layer's LSTM gets to see."""
    seen: list[PackedSequence] = []
    for layer in encoder.layers:
        layer.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    with torch.no_grad():  # where torch's own code reads them
        encoder(inputs, mask)
    return seen


def test_dropout_masks_differ_between_sentences_and_not_between_time_steps() -> None:
    encoder = encoder_with([4], dropout=0.5)
    inputs = torch.ones(20, 6, INPUT_SIZE)
    (packed,) = inputs_of_layers(encoder, inputs, mask_of([6] * 20))
    seen, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    assert (seen == seen[:, :1]).all()
    assert set(seen.flatten().tolist()) == {0.0, 2.0}
    assert (seen != seen[:1]).any()


def test_recurrent_dropout_applies_to_every_layer_from_the_second_word_read() -> None:
    inputs, mask = torch.randn(2, 3, INPUT_SIZE), mask_of([3, 3])
    one, with_dropout = encoder_with([40])(inputs, mask), encoder_with([40], 0.0, 0.5)(inputs, mask)
    (forward, backward), (dropped_forward, dropped_backward) = (
        one.chunk(2, -1),
        with_dropout.chunk(2, -1),
    )
    torch.testing.assert_close(dropped_forward[:, 0], forward[:, 0])
    torch.testing.assert_close(dropped_backward[:, -1], backward[:, -1])
    assert (dropped_forward[:, 1:] != forward[:, 1:]).all()
    assert (dropped_backward[:, :-1] != backward[:, :-1]).all()
    encoder = encoder_with([40, 30], 0.0, 0.5)
    encoder.layers[0].requires_grad_(False).weight_hh_l0.zero_()
    encoder.layers[0].weight_hh_l0_reverse.zero_()
    assert (encoder(inputs, mask) != encoder(inputs, mask)).any()  # the second layer's masks


@pytest.mark.parametrize("rate", [-0.5, 1.5, float("nan")])
def test_an_impossible_recurrent_dropout_is_refused_at_once(rate: float) -> None:
    with pytest.raises(ConfigurationError, match="recurrent_dropout: expected a rate from 0 to 1"):
        encoder_with([4], recurrent_dropout=rate)
