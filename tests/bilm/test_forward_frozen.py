"""One run of a frozen biLM for all who ask for the same batch, and never an answer to another question."""

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOutput, sentences_to_character_ids
from elmo_plugin.bilm import bilm as bilm_module
from elmo_plugin.bilm.inference_weights import RecentOutputs
from elmo_plugin.embedding.cache import MemoryCache
from tests.bilm.conftest import BiLmMaker
from tests.forks import ends_well_in_a_fork
from tests.small_bilm import loud_bilm

BATCHES = [[["a", "cat"]], [["the", "mat", "sat"]], [["a", "dog"]], [["the"]]]


class CountingCache:
    """Keeps nothing, and counts what it is asked for. Equal ones have the same name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.digests: list[bytes] = []

    def run(self, compute: Callable[[Tensor], BiLmOutput], digest: bytes, ids: Tensor, *_: int) -> BiLmOutput:
        self.digests.append(digest)
        return compute(ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountingCache) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def ids(number: int = 0) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids(BATCHES[number]))


@pytest.fixture
def bilm(make_bilm: BiLmMaker) -> BiLm:
    return make_bilm().requires_grad_(False)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Has an item for each batch that was run."""
    counted: list[None] = []
    run_sentences = bilm_module.run_sentences

    def count(*args: Any, **settings: Any) -> BiLmOutput:
        counted.append(None)
        return run_sentences(*args, **settings)

    monkeypatch.setattr(bilm_module, "run_sentences", count)
    return counted


def computed(bilm: BiLm, character_ids: Tensor) -> Tensor:
    """Returns the layers without what the biLM keeps."""
    return bilm(character_ids, keep_state=False).layers


def test_two_who_ask_for_the_same_batch_share_one_run(bilm: BiLm, runs: list[None]) -> None:
    output = bilm.forward_cached(ids())
    assert bilm.forward_cached(ids()).layers is output.layers and len(runs) == 1
    assert output.state is None and output.mask.tolist() == [[True, True]]
    assert torch.equal(computed(bilm, ids()), output.layers)


def test_two_batches_in_turn_are_run_once_each(bilm: BiLm, runs: list[None]) -> None:
    """As premise and hypothesis are, by each member of an ensemble and at each placement."""
    for _ in range(3):
        bilm.forward_cached(ids(0))
        bilm.forward_cached(ids(1))
    assert len(runs) == 2


def test_only_the_last_two_outputs_are_kept(bilm: BiLm, runs: list[None]) -> None:
    first, second, third = (weakref.ref(bilm.forward_cached(ids(number)).layers) for number in range(3))
    gc.collect()
    assert RecentOutputs.CAPACITY == 2
    assert first() is None and second() is not None and third() is not None
    for number in (2, 1, 0):
        bilm.forward_cached(ids(number))
    assert len(runs) == 4, "the oldest had to be computed again"


@pytest.mark.parametrize("by_numpy", [False, True])
def test_ids_changed_in_place_are_run_again(bilm: BiLm, runs: list[None], by_numpy: bool) -> None:
    words = ids(0)
    bilm.forward_cached(words)
    if by_numpy:
        np.copyto(words.numpy(), ids(2).numpy())
    else:
        words.copy_(ids(2))
    assert torch.equal(bilm.forward_cached(words).layers, computed(bilm, ids(2)))
    runs.clear()
    assert torch.equal(bilm.forward_cached(ids(0)).layers, computed(bilm, ids(0)))
    assert len(runs) == 1, "the first batch is still known, under its ids as they were"


def test_other_padding_or_another_type_is_run_again(bilm: BiLm, runs: list[None]) -> None:
    bilm.forward_cached(ids())
    assert bilm.forward_cached(torch.nn.functional.pad(ids(), (0, 0, 0, 1))).layers.size(2) == 3
    bilm.forward_cached(ids().long())
    assert len(runs) == 3


def change_in_place(bilm: BiLm) -> None:
    bilm.backward_lm.layers[1].projection_weight.detach()[0, 0] += 1


def load_other_weights(bilm: BiLm) -> None:
    bilm.load_state_dict(BiLm(bilm.options).state_dict())


def replace_a_parameter(bilm: BiLm) -> None:
    weight = bilm.token_encoder.projection.weight
    bilm.token_encoder.projection.weight = torch.nn.Parameter(2 * weight, requires_grad=False)


@pytest.mark.parametrize("change", [change_in_place, load_other_weights, replace_a_parameter])
def test_other_weights_give_another_output(bilm: BiLm, change: Callable[[BiLm], None]) -> None:
    before = bilm.forward_cached(ids()).layers
    change(bilm)
    after = bilm.forward_cached(ids()).layers
    assert not torch.equal(after, before)
    assert torch.equal(after, computed(bilm, ids()))


def test_a_bilm_that_is_trained_is_run_each_time_with_gradients(bilm: BiLm, runs: list[None]) -> None:
    bilm.requires_grad_(True)
    for _ in range(2):
        assert bilm.forward_cached(ids()).layers.requires_grad
    assert len(runs) == 2


def test_another_recurrence_is_another_run(bilm: BiLm, runs: list[None]) -> None:
    bilm.forward_cached(ids())
    bilm.recurrence = "reference"
    bilm.forward_cached(ids())
    assert len(runs) == 2


def test_another_precision_is_another_run(bilm: BiLm, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run_sentences(_: BiLm, character_ids: Tensor, **settings: Any) -> BiLmOutput:
        asked.append(settings["precision"])
        return BiLmOutput(character_ids, character_ids, None)

    monkeypatch.setattr(bilm_module, "run_sentences", run_sentences)  # not every machine has all precisions
    for precision in (None, "float32", "bfloat16", "float32", "bfloat16"):
        bilm.forward_cached(ids(), precision=precision)
    assert asked == ["float32", "bfloat16"], "float32 is the precision of the biLM"


def test_a_cache_is_asked_once_and_another_cache_again(bilm: BiLm, runs: list[None]) -> None:
    one, same, other = CountingCache("one"), CountingCache("one"), CountingCache("other")
    outputs = [bilm.forward_cached(ids(), cache=cache).layers for cache in (one, same, other, one)]
    assert [len(cache.digests) for cache in (one, same, other)] == [1, 0, 1]
    assert len(runs) == 2 and all(torch.equal(layers, outputs[0]) for layers in outputs)
    bilm.forward_cached(ids())
    assert len(runs) == 3, "a cache may round"


def test_a_cache_gets_the_digest_of_the_weights_in_the_precision_of_the_call(bilm: BiLm) -> None:
    cache = CountingCache("one")
    bilm.forward_cached(ids(), cache=cache)
    change_in_place(bilm)
    bilm.forward_cached(ids(), cache=cache)
    assert cache.digests[1] == bilm.digest() != cache.digests[0]


def test_what_was_run_in_inference_mode_serves_outside_of_it(bilm: BiLm, runs: list[None]) -> None:
    with torch.inference_mode():
        bilm.forward_cached(ids())
    output = bilm.forward_cached(ids())
    assert len(runs) == 1
    weight = torch.ones((), requires_grad=True)
    (weight * output.layers).masked_fill(~output.mask[..., None], 0).sum().backward()
    torch.where(output.mask, weight, 2 * weight).sum().backward()
    assert weight.grad is not None


def test_copies_and_pickles_start_empty(bilm: BiLm, runs: list[None]) -> None:
    layers = bilm.forward_cached(ids()).layers
    for fresh in (copy.deepcopy(bilm), pickle.loads(pickle.dumps(bilm))):
        assert fresh.forward_cached(ids()).layers is not layers
    assert len(runs) == 3
    assert bilm.forward_cached(ids()).layers is layers


def test_dropping_the_vectors_of_words_drops_what_was_computed_with_them(
    bilm: BiLm, runs: list[None]
) -> None:
    bilm.forward_cached(ids())
    bilm.clear_word_cache()
    bilm.forward_cached(ids())
    assert len(runs) == 2


def test_threads_get_the_answers_to_their_own_questions(bilm: BiLm) -> None:
    expected = [computed(bilm, ids(number)) for number in range(len(BATCHES))]
    wrong: list[int] = []

    def work(start: int) -> None:
        for step in range(20):
            number = (start + step * (start + 1)) % len(BATCHES)
            if not torch.allclose(bilm.forward_cached(ids(number)).layers, expected[number], atol=1e-6):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


STEPS = st.lists(st.tuples(st.integers(0, 1), st.booleans(), st.booleans()), min_size=1, max_size=12)


@settings(max_examples=25)
@given(STEPS)
def test_every_answer_is_that_of_the_bilm_whatever_changes_in_between(
    steps: list[tuple[int, bool, bool]],
) -> None:
    bilm = loud_bilm().eval().requires_grad_(False)
    buffers = [torch.from_numpy(sentences_to_character_ids([["dog", "mat"]])) for _ in range(2)]
    for buffer, change_words, change_weights in steps:
        words = buffers[buffer]
        if change_words:
            words.copy_(words.flip(1))
        if change_weights:
            change_in_place(bilm)
        assert torch.equal(bilm.forward_cached(words).layers, computed(bilm, words))


def test_processes_that_are_forked_while_a_thread_embeds_embed_too(bilm: BiLm) -> None:
    expected = computed(bilm, ids(1))
    is_over = threading.Event()

    def embed() -> None:
        while not is_over.is_set():
            bilm.clear_word_cache()
            bilm.embed([["new", "words"], ["the"]])

    thread = threading.Thread(target=embed)
    thread.start()
    try:
        for _ in range(10):
            assert ends_well_in_a_fork(lambda: torch.testing.assert_close(computed(bilm, ids(1)), expected))
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("has_cache", [False, True])
def test_a_call_computes_in_the_precision_that_it_began_with(
    has_cache: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = loud_bilm().eval().requires_grad_(False)
    bilm.max_batch_tokens = 1  # so that the words are in several chunks
    sentences = [["the", "cat"], ["a", "dog", "sat"], ["dogs"]]
    expected = bilm.embed(sentences)
    run = bilm.run_packed

    def run_and_change(*args: Any, **kwargs: Any) -> Any:
        bilm.precision = "int8"  # as another thread might
        return run(*args, **kwargs)

    monkeypatch.setattr(bilm, "run_packed", run_and_change)
    cache = MemoryCache() if has_cache else None
    for _ in range(1 + has_cache):  # what was stored has the key of its precision
        bilm.precision = "float32"
        for vectors, right in zip(bilm.embed(sentences, cache), expected, strict=True):
            assert torch.equal(vectors, right)
