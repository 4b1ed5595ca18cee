"""A biLM as a whole: its halves and layers, modes, threads, precisions, gradients, and how it
embeds.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import nn

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.embedding.cache import MemoryCache
from tests.bilm.conftest import BiLmMaker, ids_of
from tests.close import assert_near
from tests.small_bilm import loud_bilm


def test_values_computed_in_one_grad_mode_are_reused_in_another(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().requires_grad_(False)
    ids, other = ids_of("the play"), ids_of("a play today")
    with torch.inference_mode():
        bilm(ids)
    weight = torch.ones(3, requires_grad=True)
    torch.tensordot(weight, bilm(other).layers, dims=1).sum().backward()
    with torch.inference_mode():
        inside = bilm(ids_of("the play today")).layers
    torch.testing.assert_close(bilm(ids_of("the play today")).layers, inside)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_does_not_change_the_numbers(make_bilm: BiLmMaker, dtype: torch.dtype) -> None:
    bilm = make_bilm().requires_grad_(False)
    expected = bilm(ids_of("the play")).layers
    bilm.clear_word_cache()
    with torch.autocast("cpu", dtype=dtype):
        assert torch.equal(bilm(ids_of("the play")).layers, expected)


def test_threads_get_the_same_vectors_as_a_single_thread(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().requires_grad_(False)
    texts = [ids_of(f"w{number} play w{number % 3}", f"w{number}") for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda ids: bilm(ids).layers, texts))
    bilm.recurrence = "reference"
    for layers, ids in zip(together, texts, strict=True):
        assert_near(layers, bilm(ids).layers)


@pytest.mark.parametrize("has_cache", [False, True])
def test_a_call_keeps_the_precision_it_started_with(
    has_cache: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = loud_bilm().eval().requires_grad_(False)
    bilm.max_batch_tokens = 1  # so that the words are in several chunks
    sentences = [["the", "cat"], ["a", "dog", "sat"], ["dogs"]]
    expected = bilm.embed(sentences)
    forward_packed = bilm.forward_packed

    def run_and_change(*args: Any, **kwargs: Any) -> Any:
        bilm.precision = "int8"  # as another thread might
        return forward_packed(*args, **kwargs)

    monkeypatch.setattr(bilm, "forward_packed", run_and_change)
    cache = MemoryCache() if has_cache else None
    for _ in range(1 + has_cache):  # what was stored has the key of its precision
        bilm.precision = "float32"
        for vectors, right in zip(bilm.embed(sentences, cache), expected, strict=True):
            assert torch.equal(vectors, right)


def test_fine_tuning_gradients_equal_the_reference(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().double()
    gradients = {}
    for recurrence in ("reference", "auto"):
        bilm.recurrence = recurrence
        loss = (bilm(ids_of("one two three", "four", "one two three")).layers ** 2).sum()
        gradients[recurrence] = torch.autograd.grad(loss, list(bilm.parameters()))
    torch.testing.assert_close(gradients["auto"], gradients["reference"], rtol=1e-8, atol=1e-10)


def test_embed_gives_the_same_tensor_per_sentence_for_any_batch_size(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().train()
    sentences = [["The", "play", "."], [], ["Hello"]]
    vectors = bilm.embed(sentences)
    assert [tuple(vector.shape) for vector in vectors] == [(3, 3, 12), (3, 0, 12), (3, 1, 12)]
    bilm.max_batch_tokens = 1
    for one, other in zip(vectors, bilm.embed(sentences), strict=True):
        assert_near(one, other)
    assert bilm.training, "embed leaves the mode as it was"
    assert not vectors[0].requires_grad
    assert bilm.embed([]) == []


@pytest.mark.parametrize("frozen", [True, False])
def test_data_parallel_is_refused(make_bilm: BiLmMaker, frozen: bool) -> None:
    """
    torch asks every module for a replica; one without parameters cannot tell whether they changed.
    """
    bilm = make_bilm().train().requires_grad_(not frozen)
    with pytest.raises(
        BiLmError, match=r"nn\.DataParallel cannot run a biLM.*one process for each GPU"
    ):
        for module in nn.DataParallel(nn.Sequential(bilm)).modules():
            module._replicate_for_data_parallel()
    assert bilm(ids_of("the play")).layers.requires_grad != frozen, "the biLM itself goes on"


def test_constructing_from_a_state_dict_draws_no_random_numbers(
    make_bilm: BiLmMaker,
) -> None:
    bilm = make_bilm()
    random_state = torch.get_rng_state()
    loaded = BiLm(bilm.options, weights=bilm.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random_state)
    assert not loaded.is_trainable and not loaded.training
    torch.testing.assert_close(loaded(ids_of("the play")).layers, bilm(ids_of("the play")).layers)
    with pytest.raises(BiLmError, match="are missing, but required by the options"):
        BiLm(bilm.options, weights=[])
