import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLm, BiLmError, BiLmState
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.recurrence import LstmState

from .conftest import BiLmMaker

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
    for sentence, alone in zip(sentences, bilm.embed(sentences, batch_size=1), strict=True):
        row = len(neighbour) + sentences[::-1].index(sentence)
        torch.testing.assert_close(layers[:, row, : len(sentence)], alone, atol=1e-5, rtol=0)
        assert not layers[:, row, len(sentence) :].any(), "padding is zero"


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


def test_the_state_of_zeros_is_no_state(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    zeros = LstmState(torch.zeros(2, 2, 6), torch.zeros(2, 2, 10))
    ids = _ids("one two three", "four")
    torch.testing.assert_close(bilm(ids, BiLmState(zeros, zeros)).layers, bilm(ids).layers)


def test_embed_gives_a_tensor_per_sentence_whatever_the_batch_size(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().train()
    sentences = [["The", "play", "."], [], ["Hello"]]
    vectors = bilm.embed(sentences)
    assert [tuple(vector.shape) for vector in vectors] == [(3, 3, 12), (3, 0, 12), (3, 1, 12)]
    for one, other in zip(vectors, bilm.embed(sentences, batch_size=1), strict=True):
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
