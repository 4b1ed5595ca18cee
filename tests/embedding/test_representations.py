import copy
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.embedding.representations import ElmoRepresentations
from tests.close import assert_near

SENTENCES = [
    ["The", "play", "ended", "."],
    ["Play", "!"],
    ["A", "long", "play", "by", "a", "child"],
]


def ids(sentences: list[list[str]]) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids(sentences))


def vectors(elmo: ElmoRepresentations, sentences: list[list[str]]) -> list[Tensor]:
    """Each sentence's vectors, without padding."""
    (representation,), mask = elmo(ids(sentences))
    return [row[present] for row, present in zip(representation, mask, strict=True)]


@pytest.mark.parametrize(
    ("layers", "numbers"),
    [("all", [0, 1, 2]), ("top", [2]), (0, [0]), (1, [1]), ([0, 2], [0, 2]), ([2, 1], [2, 1])],
)
def test_layers_choose_what_is_mixed(
    bilm: BiLm, layers: str | int | list[int], numbers: list[int]
) -> None:
    elmo = ElmoRepresentations(bilm, layers=layers).eval()
    assert elmo.mixes["0"].scalar_mix.weights.shape == (len(numbers),)
    activations = bilm(ids(SENTENCES)).layers
    expected = torch.stack([activations[number] for number in numbers]).mean(dim=0)
    torch.testing.assert_close(elmo(ids(SENTENCES)).representations[0], expected)


def test_representations_mix_separately_and_share_one_run_of_the_bilm(
    bilm: BiLm,
) -> None:
    elmo = ElmoRepresentations(bilm, num_mixes=2).eval()
    runs: list[object] = []
    bilm.register_forward_hook(lambda *_: runs.append(None))
    with torch.no_grad():
        elmo.mixes["1"].scalar_mix.gamma.fill_(3.0)
    first, second = elmo(ids(SENTENCES)).representations
    torch.testing.assert_close(second, 3 * first)
    assert len(runs) == 1


def test_mixing_weights_are_fixed_shares(bilm: BiLm) -> None:
    elmo = ElmoRepresentations(bilm, mixing_weights=[0.25, 0.75, 0]).eval()
    layers = bilm(ids(SENTENCES)).layers
    torch.testing.assert_close(
        elmo(ids(SENTENCES)).representations[0], 0.25 * layers[0] + 0.75 * layers[1]
    )
    assert not any(parameter.requires_grad for parameter in elmo.parameters())


def test_layer_norm_normalizes_each_vector_separately(bilm: BiLm) -> None:
    elmo = ElmoRepresentations(bilm, layers=1, layer_norm=True).eval()
    expected = bilm(ids(SENTENCES)).layers[1].double()
    mean, variance = expected.mean(-1, keepdim=True), expected.var(-1, unbiased=False, keepdim=True)
    expected = (expected - mean) / (variance + 1e-5).sqrt()
    assert_near(elmo(ids(SENTENCES)).representations[0], expected)


def test_the_bilm_is_trained_if_gradients_are_required(bilm: BiLm) -> None:
    bilm.forward_lm.dropout.p = bilm.backward_lm.dropout.p = 0.5
    elmo = ElmoRepresentations(bilm, requires_grad=True, dropout=0).train()
    dropped = elmo(ids(SENTENCES)).representations[0]
    dropped.pow(2).sum().backward()
    assert all(parameter.grad is not None for parameter in elmo.bilm.parameters())
    assert not elmo.eval().bilm.training
    with torch.no_grad():
        plain = elmo(ids(SENTENCES)).representations[0]
    assert not plain.requires_grad
    assert not torch.allclose(plain, dropped, atol=1e-3)


@pytest.mark.parametrize("trained_first", [True, False])
def test_training_a_shared_bilm_trains_a_copy(bilm: BiLm, trained_first: bool) -> None:
    elmos = [
        ElmoRepresentations(bilm, requires_grad=trained, dropout=0)
        for trained in (trained_first, not trained_first)
    ]
    trained, frozen = elmos if trained_first else elmos[::-1]
    assert frozen.bilm is bilm and trained.bilm is not bilm
    expected = frozen(ids(SENTENCES)).representations[0]
    for _ in range(2):
        trained(ids(SENTENCES)).representations[0].sum().backward()
        torch.optim.SGD(trained.bilm.parameters(), lr=0.1).step()
        assert torch.equal(frozen(ids(SENTENCES)).representations[0], expected)
    assert not torch.allclose(trained(ids(SENTENCES)).representations[0], expected, atol=1e-3)


def test_the_callers_bilm_is_never_changed(bilm: BiLm) -> None:
    bilm.eval()
    bilm.max_batch_tokens = 7

    def settings() -> tuple[Any, ...]:
        released = [parameter.requires_grad for parameter in bilm.parameters()]
        return released, bilm.training, bilm.precision, bilm.recurrence, bilm.max_batch_tokens

    before, weights = settings(), copy.deepcopy(bilm.state_dict())
    for options in ({}, {"requires_grad": True}, {"requires_grad": False, "precision": "float32"}):
        ElmoRepresentations(bilm, max_batch_tokens=3, **options)(ids(SENTENCES))
        assert settings() == before
    bilm.requires_grad_(True)
    before = settings()
    for options in (
        {},
        {"requires_grad": False},
        {"requires_grad": False, "precision": "bfloat16"},
    ):
        assert ElmoRepresentations(bilm, max_batch_tokens=3, **options).bilm.is_trainable == (
            not options
        )
        assert settings() == before
    assert all(torch.equal(values, weights[name]) for name, values in bilm.state_dict().items())


def test_each_elmo_has_its_own_precision(bilm: BiLm, rough: str) -> None:
    plain, rounded = ElmoRepresentations(bilm), ElmoRepresentations(bilm, precision=rough)
    (expected,) = plain.eval()(ids(SENTENCES)).representations
    (other,) = rounded.eval()(ids(SENTENCES)).representations
    assert not torch.allclose(other, expected, atol=1e-2)
    assert torch.equal(plain(ids(SENTENCES)).representations[0], expected)
    bilm.precision = rough
    assert torch.equal(plain(ids(SENTENCES)).representations[0], other)


def test_impossible_precisions_are_refused(bilm: BiLm) -> None:
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, got 'float16'"):
        ElmoRepresentations(bilm, precision="float16")
    with pytest.raises(BiLmError, match="a biLM is fine-tuned in float32, not in int8"):
        ElmoRepresentations(bilm, precision="int8", requires_grad=True)


@pytest.mark.parametrize("size", [0, -3, 2.5])
def test_chunks_have_at_least_one_token(bilm: BiLm, size: Any) -> None:
    with pytest.raises(BiLmError, match="max_batch_tokens: expected "):
        BiLm(bilm.options, max_batch_tokens=size)
    with pytest.raises(BiLmError, match="max_batch_tokens: expected "):
        ElmoRepresentations(bilm, max_batch_tokens=size)
    with pytest.raises(BiLmError, match="max_batch_tokens: expected "):
        bilm(ids(SENTENCES), max_batch_tokens=size)


def test_empty_batches_and_empty_sentences_are_accepted(bilm: BiLm) -> None:
    elmo = ElmoRepresentations(bilm, layer_norm=True).eval()
    assert elmo(torch.zeros(0, 4, 50, dtype=torch.int16)).representations[0].shape == (
        0,
        4,
        bilm.output_dim,
    )
    assert elmo(torch.zeros(2, 0, 50, dtype=torch.int16)).representations[0].shape == (
        2,
        0,
        bilm.output_dim,
    )
    with_empty = vectors(elmo, [[], SENTENCES[0], []])
    assert [len(vector) for vector in with_empty] == [0, 4, 0]
    assert_near(with_empty[1], vectors(elmo, SENTENCES[:1])[0])


def test_a_stateful_bilm_carries_its_state_until_reset(bilm: BiLm) -> None:
    elmo = ElmoRepresentations(bilm, stateful=True).eval()
    first, second = vectors(elmo, SENTENCES), vectors(elmo, SENTENCES)
    assert all((b - a).abs().max() > 1e-3 for a, b in zip(first, second, strict=True))
    elmo.reset_state()
    torch.testing.assert_close(vectors(elmo, SENTENCES), first, atol=0, rtol=0)


def test_state_is_left_out_of_state_dict_copies_and_pickles(bilm: BiLm) -> None:
    elmo = ElmoRepresentations(bilm, stateful=True).eval()
    names = set(elmo.state_dict())
    first = vectors(elmo, SENTENCES)
    assert set(elmo.state_dict()) == names
    for fresh in (copy.deepcopy(elmo), pickle.loads(pickle.dumps(elmo))):
        torch.testing.assert_close(vectors(fresh, SENTENCES), first, atol=0, rtol=0)
    continued = vectors(elmo, SENTENCES)
    assert (continued[0] - first[0]).abs().max() > 1e-3, (
        "copying must not touch the original's state"
    )
