"""The states of sentences: picked, padded and joined."""

import pytest
import torch

from elmo_plugin.bilm import PRECISIONS, BiLmError, LstmOptions
from elmo_plugin.bilm.batching import WordBatch
from elmo_plugin.bilm.lstm import DirectionalLstm, ForwardSettings, lstm_layers, zero_state
from elmo_plugin.bilm.lstm_state import LstmState

LAYERS = 2
DIRECTIONS = 2


def state_of(*values: float) -> LstmState:
    """Returns a state in which every number of a sentence is its value."""
    sentences = torch.tensor(values)[:, None]
    return LstmState(
        sentences.expand(LAYERS, DIRECTIONS, -1, 3).clone(),
        sentences.expand(LAYERS, DIRECTIONS, -1, 5).clone(),
    )


def assert_same(actual: LstmState, expected: LstmState) -> None:
    assert torch.equal(actual.hidden, expected.hidden)
    assert torch.equal(actual.cell, expected.cell)


def test_rows_selects_sentences_in_the_given_order() -> None:
    state = state_of(1, 2, 3)
    assert_same(state.rows(torch.tensor([2, 0, 2])), state_of(3, 1, 3))
    assert_same(state.rows(slice(1, None)), state_of(2, 3))


def test_rows_of_the_inverse_order_restores_the_sentences() -> None:
    state = state_of(1, 2, 3, 4)
    order = torch.tensor([3, 1, 0, 2])
    assert_same(state.rows(order).rows(order.argsort()), state)


def test_further_sentences_start_from_zero_and_others_are_left_out() -> None:
    assert_same(state_of(1).resized(3), state_of(1, 0, 0))
    assert_same(state_of(1, 2).resized(2), state_of(1, 2))
    assert_same(state_of(1, 2).resized(1), state_of(1))
    assert_same(state_of(1, 2).resized(0), state_of())


def test_a_single_sentence_is_repeated() -> None:
    assert_same(state_of(7).expanded(3), state_of(7, 7, 7))


def test_chunks_of_a_state_are_concatenated_again() -> None:
    state = state_of(1, 2, 3)
    chunks = [state.rows(slice(0, 2)), state.rows(slice(2, 3)), state.rows(slice(3, None))]
    assert_same(LstmState.concatenated(chunks), state)


def test_layers_are_stacked_again() -> None:
    state = state_of(1, 2)
    assert_same(LstmState.stacked([state.layer(number) for number in range(LAYERS)]), state)


def test_distinct_sentences_say_where_each_sentence_is() -> None:
    words = torch.zeros(3, 50, dtype=torch.int16)
    ids = torch.tensor([[0, 1], [2, -1], [0, 1]])
    batch = WordBatch(words, ids, torch.tensor([2, 1, 2]))
    distinct, row_of_sentence = batch.distinct_sentences()
    assert row_of_sentence is not None
    assert len(distinct.lengths) == 2
    assert torch.equal(distinct.word_ids[row_of_sentence], ids)
    assert torch.equal(distinct.lengths[row_of_sentence.cpu()], batch.lengths)


def test_a_batch_without_repeated_sentences_is_unchanged() -> None:
    words = torch.zeros(3, 50, dtype=torch.int16)
    batch = WordBatch(words, torch.tensor([[0, 1], [2, -1]]), torch.tensor([2, 1]))
    distinct, row_of_sentence = batch.distinct_sentences()
    assert distinct is batch
    assert row_of_sentence is None


def test_the_training_recurrence_refuses_reduced_precision_without_gradients() -> None:
    lm = DirectionalLstm(LstmOptions(projection_dim=4, dim=7)).requires_grad_(False)
    inputs = torch.zeros(1, 4)
    state = zero_state(lm.options, inputs, 1, directions=1)
    settings = ForwardSettings(PRECISIONS["bfloat16"], recurrence="training")
    with pytest.raises(BiLmError, match="float32, not in bfloat16"):
        lstm_layers([lm], [inputs], [1], state, settings)
