"""Batches of sentences: their boundaries, chunks, repetitions, states, and what is refused."""

from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.batching import WordBatch
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.packing import Packing
from tests.bilm.conftest import BiLmMaker, ids_of
from tests.close import assert_near
from tests.conftest import at_most
from tests.small_bilm import small_options

WORDS = st.sampled_from(["the", "play", "Wörter", ".", "a" * 60, "🙂", "x"])
SENTENCES = st.lists(st.lists(WORDS, max_size=7), min_size=1, max_size=5)


@settings(at_most(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentences=SENTENCES, neighbour=SENTENCES, padding=st.integers(0, 3))
def test_a_sentences_vectors_do_not_depend_on_its_batch(
    make_bilm: BiLmMaker, sentences: list[list[str]], neighbour: list[list[str]], padding: int
) -> None:
    bilm = make_bilm()
    batch = torch.from_numpy(sentences_to_character_ids(neighbour + sentences[::-1]))
    batch = torch.nn.functional.pad(batch, (0, 0, 0, padding))
    layers = bilm(batch).layers
    bilm.max_batch_tokens = 1
    for sentence, alone in zip(sentences, bilm.embed(sentences), strict=True):
        row = len(neighbour) + sentences[::-1].index(sentence)
        assert_near(layers[:, row, : len(sentence)], alone)
        assert not layers[:, row, len(sentence) :].any(), "padding is zero"


def test_chunks_of_a_batch_continue_from_each_rows_state(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    first, second = (
        ids_of("one two three", "", "four", "five six"),
        ids_of("seven", "eight nine", "", "ten", "eleven"),
    )
    whole = bilm(second, state=bilm(first, keep_state=True).state, keep_state=True)
    bilm.requires_grad_(False)
    bilm.max_batch_tokens = 3
    chunks = bilm(second, state=bilm(first, keep_state=True).state, keep_state=True)
    assert_near(chunks, whole)


def test_repeated_sentences_in_a_batch_are_computed_once(
    make_bilm: BiLmMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = make_bilm().requires_grad_(False)
    computed, forward_packed = [], bilm.forward_packed

    def count(
        character_ids: Tensor, word_ids: list[Tensor], packing: Packing, *args: Any, **kw: Any
    ) -> Any:
        computed.append(len(packing.longest_first))
        return forward_packed(character_ids, word_ids, packing, *args, **kw)

    monkeypatch.setattr(bilm, "forward_packed", count)
    ids = ids_of("a b c", "d", "a b c", "", "d", "a b c", "")
    output = bilm(ids, keep_state=True)
    assert computed == [3]
    bilm.recurrence = "reference"
    for row in range(len(ids)):
        alone = bilm(ids[row : row + 1], keep_state=True)
        assert_near(output.layers[:, row], alone.layers[:, 0])
        torch.testing.assert_close(output.state.cell[:, :, row], alone.state.cell[:, :, 0])
    assert output.mask.sum(dim=1).tolist() == [3, 1, 3, 0, 1, 3, 0]


@pytest.mark.parametrize("with_gradients", [True, False])
def test_repeated_sentences_get_separate_dropout_in_training(with_gradients: bool) -> None:
    torch.manual_seed(0)
    bilm = BiLm(BiLmOptions.from_dict(small_options()), dropout=0.5)
    with torch.set_grad_enabled(with_gradients):
        layers = bilm(ids_of("a b c", "a b c")).layers
    assert not torch.equal(layers[:, 0], layers[:, 1])


def test_a_given_state_is_continued_and_rows_outside_the_batch_keep_theirs(
    make_bilm: BiLmMaker,
) -> None:
    bilm = make_bilm()
    first = bilm(ids_of("one two three", "four", "five six"), keep_state=True).state
    second = bilm(ids_of("seven eight", ""), state=first, keep_state=True).state
    empty = bilm(ids_of("", ""), state=first, keep_state=True).state
    fresh = bilm(ids_of("seven eight"), keep_state=True).state
    torch.testing.assert_close(
        second.cell[:, :, 2:], first.cell[:, :, 2:]
    )  # a row that the batch lacks
    for direction in range(2):
        before, after = first.cell[:, direction], second.cell[:, direction]
        assert not torch.allclose(after[:, 1], before[:, 1]), "row 1 read both boundaries"
        assert not torch.allclose(after[:, :1], fresh.cell[:, direction]), (
            "row 0 went on from its state"
        )
    torch.testing.assert_close(second.cell[:, 0, 1], empty.cell[:, 0, 1])
    third = bilm(ids_of("a", "b", "c", "a"), state=first)
    assert_near(third.layers[:, 3], bilm(ids_of("a")).layers[:, 0])


def test_a_batch_without_sentences_passes_the_state_through(make_bilm: BiLmMaker) -> None:
    for frozen in (True, False):
        bilm = make_bilm().requires_grad_(not frozen)
        state = bilm(ids_of("one two", "three"), keep_state=True).state
        output = bilm(ids_of("one")[:0], state=state, keep_state=True)
        assert output.layers.shape == (3, 0, 1, 12)
        torch.testing.assert_close(output.state, state)


def test_words_with_another_number_of_characters_are_refused(make_bilm: BiLmMaker) -> None:
    with pytest.raises(
        BiLmError, match=r"expected the shape \(batch, time, 50\), got \(1, 2, 20\)"
    ):
        make_bilm()(torch.zeros(1, 2, 20, dtype=torch.long))


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("position", [0, 1])
def test_padding_before_a_word_is_refused(
    make_bilm: BiLmMaker, frozen: bool, position: int
) -> None:
    """It would count as a sentence that is shorter, and the last words would be lost."""
    bilm = make_bilm().requires_grad_(not frozen)
    ids = ids_of("one two three", "four five")
    ids[1] = ids[1].roll(1, dims=0) if position == 0 else ids[0]
    ids[1, position] = 0
    with pytest.raises(
        BiLmError, match="rows of zeros before a word: padding must come after the words"
    ):
        bilm(ids)


@pytest.mark.parametrize("frozen", [True, False])
def test_ids_other_than_a_dense_integer_tensor_are_refused(
    make_bilm: BiLmMaker, frozen: bool
) -> None:
    bilm, ids = make_bilm().requires_grad_(not frozen), ids_of("one two", "three four")
    nested = torch.nested.nested_tensor(list(ids.float()))
    for wrong in (
        ids.to_sparse(),
        ids.to("meta"),
        ids.to(torch.cfloat),
        ids.float(),
        ids.bool(),
        nested,
    ):
        with pytest.raises(BiLmError, match=r"expected (a dense tensor of integers|the shape)"):
            bilm(wrong)
    with pytest.raises(BiLmError, match="expected 0 to 261"):
        bilm(-ids)


def test_adding_boundaries_does_not_change_the_layers_of_words(make_bilm: BiLmMaker) -> None:
    for frozen in (True, False):
        bilm = make_bilm().requires_grad_(not frozen)
        ids = ids_of("one two three", "", "four")
        plain, bounded = bilm(ids, keep_state=True), bilm(ids, keep_state=True, boundaries=True)
        assert bounded.mask.sum(dim=1).tolist() == [5, 2, 3]
        torch.testing.assert_close(bounded.layers[:, 0, 1:4], plain.layers[:, 0])
        torch.testing.assert_close(bounded.layers[:, 2, 1], plain.layers[:, 2, 0])
        torch.testing.assert_close(bounded.state, plain.state)
        assert not bounded.layers.masked_fill(bounded.mask[..., None], 0).any(), "padding is zero"


def test_settings_apply_to_the_current_call_only(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().requires_grad_(False)
    chunks: list[int] = []
    forward_batch = BiLm.forward_batch

    def count(self: BiLm, batch: WordBatch, *args: Any, **settings: Any) -> Any:
        chunks.append(len(batch.lengths))
        return forward_batch(self, batch, *args, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BiLm, "forward_batch", count)
        for max_batch_tokens in (None, 1, None):
            bilm(ids_of("a b", "c", "d e f"), max_batch_tokens=max_batch_tokens)
    assert chunks == [3, 1, 1, 1, 3]
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, got 'half'"):
        bilm(ids_of("a b"), precision="half")
    bilm(ids_of("a b"))
