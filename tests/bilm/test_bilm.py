import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions, BiLmState
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.lstm import LstmState, steps
from tests.bilm.conftest import BiLmMaker
from tests.bilm.paths import ComputePath, take
from tests.small_bilm import small_options

WORDS = st.sampled_from(["the", "play", "Wörter", ".", "a" * 60, "🙂", "x"])
SENTENCES = st.lists(st.lists(WORDS, max_size=7), min_size=1, max_size=5)


def _ids(*sentences: str) -> torch.Tensor:
    return torch.from_numpy(sentences_to_character_ids([sentence.split() for sentence in sentences]))


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentences=SENTENCES, neighbour=SENTENCES, padding=st.integers(0, 3))
def test_a_sentence_has_the_same_vectors_alone_and_in_any_batch(
    make_bilm: BiLmMaker, sentences: list[list[str]], neighbour: list[list[str]], padding: int
) -> None:
    bilm = make_bilm()
    batch = torch.from_numpy(sentences_to_character_ids(neighbour + sentences[::-1]))
    batch = torch.nn.functional.pad(batch, (0, 0, 0, padding))
    layers = bilm(batch).layers
    bilm.max_batch_tokens = 1
    for sentence, alone in zip(sentences, bilm.embed(sentences), strict=True):
        row = len(neighbour) + sentences[::-1].index(sentence)
        torch.testing.assert_close(layers[:, row, : len(sentence)], alone, atol=1e-5, rtol=0)
        assert not layers[:, row, len(sentence) :].any(), "padding is zero"


@pytest.mark.parametrize("recurrence", ["sequential", "batched_directions"])
def test_a_long_text_in_one_sequence_has_the_vectors_of_the_reference(
    make_bilm: BiLmMaker, recurrence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = make_bilm().requires_grad_(False)
    text = torch.from_numpy(sentences_to_character_ids([[f"w{k * k % 97}" for k in range(3000)], ["short"]]))
    bilm.recurrence = "reference"
    expected = bilm(text)
    bilm.recurrence = recurrence
    monkeypatch.setattr(steps, "MAX_PROJECTED_ROWS", 7)
    bilm.max_batch_tokens = 100
    actual = bilm(text)
    torch.testing.assert_close(actual.layers, expected.layers, atol=1e-5, rtol=0)
    torch.testing.assert_close(actual.state, expected.state, atol=1e-5, rtol=0)


def test_a_batch_in_parts_goes_on_from_the_state_of_every_row(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    first, second = (
        _ids("one two three", "", "four", "five six"),
        _ids("seven", "eight nine", "", "ten", "eleven"),
    )
    whole = bilm(second, state=bilm(first).state)
    bilm.requires_grad_(False)
    bilm.max_batch_tokens = 3
    parts = bilm(second, state=bilm(first).state)
    torch.testing.assert_close(parts, whole, atol=1e-5, rtol=0)


def test_sentences_that_a_batch_has_several_times_are_computed_once(
    make_bilm: BiLmMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = make_bilm().requires_grad_(False)
    computed = []
    monkeypatch.setattr(
        bilm,
        "_read_in_parts",
        lambda ids, *rest: computed.append(len(ids)) or BiLm._read_in_parts(bilm, ids, *rest),
    )
    ids = _ids("a b c", "d", "a b c", "", "d", "a b c", "")
    output = bilm(ids)
    assert computed == [3]
    bilm.recurrence = "reference"
    for row in range(len(ids)):
        alone = bilm(ids[row : row + 1])
        torch.testing.assert_close(output.layers[:, row], alone.layers[:, 0], atol=1e-5, rtol=0)
        torch.testing.assert_close(output.state.backward.cell[:, row], alone.state.backward.cell[:, 0])
    assert output.mask.sum(dim=1).tolist() == [3, 1, 3, 0, 1, 3, 0]


def test_without_the_state_the_layers_are_the_same(make_bilm: BiLmMaker) -> None:
    for frozen in (True, False):
        bilm = make_bilm().requires_grad_(not frozen)
        output = bilm(_ids("a b c", "", "d"), keep_state=False)
        assert output.state is None
        torch.testing.assert_close(output.layers, bilm(_ids("a b c", "", "d")).layers)


def test_in_training_each_sentence_has_its_own_dropout() -> None:
    torch.manual_seed(0)
    bilm = BiLm(BiLmOptions.from_dict(small_options()), dropout=0.5).requires_grad_(False)
    layers = bilm(_ids("a b c", "a b c")).layers
    assert not torch.equal(layers[:, 0], layers[:, 1])


def test_what_was_computed_in_one_mode_serves_in_another(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().requires_grad_(False)
    ids, other = _ids("the play"), _ids("a play today")
    with torch.inference_mode():
        bilm(ids)
    weight = torch.ones(3, requires_grad=True)
    torch.tensordot(weight, bilm(other).layers, dims=1).sum().backward()
    with torch.inference_mode():
        inside = bilm(_ids("the play today")).layers
    torch.testing.assert_close(bilm(_ids("the play today")).layers, inside)


def test_autocast_does_not_change_the_numbers(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().requires_grad_(False)
    expected = bilm(_ids("the play")).layers
    bilm.clear_type_cache()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(bilm(_ids("the play")).layers, expected)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_all_is_made_anew_when_weights_change(make_bilm: BiLmMaker, precision: str) -> None:
    bilm = take(make_bilm(), ComputePath("auto", precision, "cpu", 0.0))
    before = bilm(_ids("the play")).layers
    for copied in (copy.deepcopy(bilm), pickle.loads(pickle.dumps(bilm))):
        assert torch.equal(copied(_ids("the play")).layers, before)
    with torch.no_grad():
        for parameter in bilm.parameters():
            parameter.mul_(0.7)
    after = bilm(_ids("the play")).layers
    fresh = take(BiLm(bilm.options).eval(), ComputePath("auto", precision, "cpu", 0.0))
    fresh.load_state_dict(bilm.state_dict())
    assert torch.equal(after, fresh(_ids("the play")).layers) and not torch.equal(after, before)
    bilm.double().float()
    assert torch.equal(bilm(_ids("the play")).layers, after)


@pytest.mark.parametrize("recurrence", ["sequential", "batched_directions"])
def test_moving_drops_what_was_kept_of_weights_that_changed_unseen(
    make_bilm: BiLmMaker, recurrence: str
) -> None:
    bilm = make_bilm().requires_grad_(False)
    bilm.recurrence = recurrence
    bilm(_ids("the play"))
    for parameter in bilm.parameters():
        parameter.data.mul_(0.7)
    bilm.to("cpu")
    actual = bilm(_ids("the play")).layers
    bilm.recurrence = "reference"
    torch.testing.assert_close(actual, bilm(_ids("the play")).layers, atol=1e-5, rtol=0)


def test_threads_get_what_one_thread_gets(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().requires_grad_(False)
    texts = [_ids(f"w{number} play w{number % 3}", f"w{number}") for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda ids: bilm(ids).layers, texts))
    bilm.recurrence = "reference"
    for layers, ids in zip(together, texts, strict=True):
        torch.testing.assert_close(layers, bilm(ids).layers, atol=1e-5, rtol=0)


def test_a_vocabulary_is_encoded_ahead(make_bilm: BiLmMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = make_bilm().requires_grad_(False)
    expected = bilm(_ids("the play")).layers
    bilm.clear_type_cache()
    bilm.precompute_types(["the", "play", "<S>", "</S>"])
    monkeypatch.setattr(
        bilm.token_encoder, "encode_types", lambda ids: pytest.fail("nothing is left to encode")
    )
    torch.testing.assert_close(bilm(_ids("the play")).layers, expected, atol=1e-6, rtol=0)


def test_a_precision_that_there_is_not_is_refused(make_bilm: BiLmMaker) -> None:
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, not 'half'"):
        make_bilm().precision = "half"


def test_gradients_are_refused_in_another_precision_than_float32(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    bilm.precision = "bfloat16"
    with pytest.raises(BiLmError, match="float32, not in bfloat16"):
        bilm(_ids("the play"))


def test_fine_tuning_gets_the_gradients_of_the_reference(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().double()
    gradients = {}
    for recurrence in ("reference", "auto"):
        bilm.recurrence = recurrence
        loss = (bilm(_ids("one two three", "four", "one two three")).layers ** 2).sum()
        gradients[recurrence] = torch.autograd.grad(loss, list(bilm.parameters()))
    torch.testing.assert_close(gradients["auto"], gradients["reference"], rtol=1e-8, atol=1e-10)


def test_the_token_layer_stands_twice_in_layer_0(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    ids = _ids("the play")
    token_layer = bilm.token_encoder(ids)
    torch.testing.assert_close(bilm(ids).layers[0], torch.cat([token_layer, token_layer], dim=-1))


def test_each_half_depends_on_its_own_side_of_the_sentence_only(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    half = bilm.output_dim // 2
    one, other = bilm(_ids("he saw the play today", "he saw the show today")).layers.unbind(dim=1)
    changed = (one - other).abs().amax(dim=0) > 1e-6  # Shape: (time, output_dim)
    forward_changed, backward_changed = changed[:, :half].any(dim=1), changed[:, half:].any(dim=1)
    assert forward_changed.tolist() == [False, False, False, True, True]
    assert backward_changed.tolist() == [True, True, True, True, False]


def test_the_backward_half_is_a_forward_lm_over_the_reversed_sentence(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    bilm.backward_lm.load_state_dict(bilm.forward_lm.state_dict())
    bilm.boundaries[1] = bilm.boundaries[0]  # else the two ends of a sentence differ
    forward, backward = bilm(_ids("one two three")).layers.chunk(2, dim=-1)
    turned, _ = bilm(_ids("three two one")).layers.chunk(2, dim=-1)
    torch.testing.assert_close(backward.flip(2), turned)
    assert not torch.allclose(forward.flip(2), backward)


def test_a_given_state_goes_on_and_rows_that_the_batch_lacks_keep_theirs(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    first = bilm(_ids("one two three", "four", "five six"))
    second = bilm(_ids("seven eight", ""), state=first.state)
    for before, after, fresh in zip(first.state, second.state, bilm(_ids("seven eight")).state, strict=True):
        torch.testing.assert_close(after.cell[:, 1:], before.cell[:, 1:])  # an empty and an absent row
        assert not torch.allclose(after.cell[:, :1], fresh.cell), "row 0 went on from its state"
    third = bilm(_ids("a", "b", "c", "a"), state=first.state)
    torch.testing.assert_close(third.layers[:, 3], bilm(_ids("a")).layers[:, 0], atol=1e-5, rtol=0)


def test_a_batch_without_sentences_hands_the_state_on(make_bilm: BiLmMaker) -> None:
    for frozen in (True, False):
        bilm = make_bilm().requires_grad_(not frozen)
        state = bilm(_ids("one two", "three")).state
        output = bilm(_ids("one")[:0], state=state)
        assert output.layers.shape == (3, 0, 1, 12)
        torch.testing.assert_close(output.state, state)


def test_the_state_of_zeros_is_no_state(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    zeros = LstmState(torch.zeros(2, 2, 6), torch.zeros(2, 2, 10))
    ids = _ids("one two three", "four")
    torch.testing.assert_close(bilm(ids, BiLmState(zeros, zeros)).layers, bilm(ids).layers)


def test_embed_gives_a_tensor_per_sentence_whatever_the_batches(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().train()
    sentences = [["The", "play", "."], [], ["Hello"]]
    vectors = bilm.embed(sentences)
    assert [tuple(vector.shape) for vector in vectors] == [(3, 3, 12), (3, 0, 12), (3, 1, 12)]
    bilm.max_batch_tokens = 1
    for one, other in zip(vectors, bilm.embed(sentences), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)
    assert bilm.training, "embed leaves the mode as it was"
    assert not vectors[0].requires_grad
    assert bilm.embed([]) == []


def test_ids_of_any_integer_type_are_read(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    ids = _ids("the play")
    for dtype in (torch.int32, torch.int64):
        torch.testing.assert_close(bilm(ids.to(dtype)).layers, bilm(ids).layers)


def test_words_with_another_number_of_characters_are_refused(make_bilm: BiLmMaker) -> None:
    with pytest.raises(BiLmError, match=r"must have the shape \(batch, time, 50\), not \(1, 2, 20\)"):
        make_bilm()(torch.zeros(1, 2, 20, dtype=torch.long))


def test_sizes_are_what_the_options_say(make_bilm: BiLmMaker) -> None:
    bilm: BiLm = make_bilm(lstm={"n_layers": 3, "projection_dim": 4})
    assert (bilm.num_layers, bilm.output_dim) == (4, 8)
    assert bilm(_ids("a b")).layers.shape == (4, 1, 2, 8)
