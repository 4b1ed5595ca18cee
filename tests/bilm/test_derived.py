"""What is derived from frozen weights is derived once, and again after each change that `refresh`
names.
"""

import copy
import pickle
import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmOutput, precision_on
from elmo_plugin.bilm.derived import DerivedValues
from tests.bilm.conftest import BiLmMaker, ids_of
from tests.close import assert_near
from tests.forks import ends_well_in_a_fork

Change = Callable[[BiLm], object]


@pytest.fixture
def bilm(make_bilm: BiLmMaker) -> BiLm:
    return make_bilm().requires_grad_(False)


def load_other_weights(bilm: BiLm) -> None:
    bilm.load_state_dict(BiLm(bilm.options).state_dict())


def replace_a_parameter(bilm: BiLm) -> None:
    shape = bilm.forward_lm.layers[0].bias.shape
    bilm.forward_lm.layers[0].bias = nn.Parameter(torch.ones(shape), requires_grad=False)


@torch.no_grad()
def scale(bilm: BiLm) -> None:
    bilm.token_encoder.projection.weight.mul_(2)


def scale_data(bilm: BiLm) -> None:
    for parameter in bilm.parameters():
        parameter.data.mul_(2)


def scale_with_numpy(bilm: BiLm) -> None:
    bilm.backward_lm.layers[1].bias.numpy()[:] += 1


def replace_data(bilm: BiLm) -> None:
    nn.utils.vector_to_parameters(
        nn.utils.parameters_to_vector(bilm.parameters()) * 2, bilm.parameters()
    )


def transpose_data(bilm: BiLm) -> None:
    weight = bilm.token_encoder.highways[0].carry.weight
    weight.data = weight.data.t()


def initialize_a_part(bilm: BiLm) -> None:
    bilm.apply(
        lambda module: nn.init.ones_(module.weight) if isinstance(module, nn.Linear) else None
    )


def reparametrize(bilm: BiLm) -> None:
    nn.utils.parametrizations.weight_norm(bilm.token_encoder.projection)
    bilm.embed([["play"]])
    bilm.token_encoder.projection.parametrizations.weight.original0.data.mul_(2)
    nn.utils.parametrize.remove_parametrizations(bilm.token_encoder.projection, "weight")
    bilm.requires_grad_(False)


def train_a_step(bilm: BiLm) -> None:
    recurrence, bilm.recurrence = bilm.recurrence, "auto"
    nn.ModuleList([bilm]).requires_grad_(True)  # which does not call that of the biLM
    optimizer = torch.optim.SGD(bilm.parameters(), lr=0.1)
    bilm(ids_of("a play")).layers.sum().backward()
    optimizer.step()
    nn.ModuleList([bilm]).requires_grad_(False)
    bilm.recurrence = recurrence


def step_after_freezing(bilm: BiLm) -> None:
    bilm.requires_grad_(True)
    for parameter in bilm.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer = torch.optim.AdamW(
        bilm.parameters(), lr=0.05, fused=True
    )  # torch counts none of its changes
    bilm.requires_grad_(False)
    optimizer.step()


def change_one_value_unseen_and_refresh(bilm: BiLm) -> None:
    bilm.backward_lm.layers[1].projection_weight.data[0, 0] += 1
    bilm.refresh()


CHANGES: list[Change] = [
    load_other_weights,
    replace_a_parameter,
    scale,
    scale_data,
    scale_with_numpy,
    replace_data,
    transpose_data,
    initialize_a_part,
    reparametrize,
    train_a_step,
    step_after_freezing,
    change_one_value_unseen_and_refresh,
    lambda bilm: bilm.double(),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("recurrence", ["separate_directions", "batched_directions"])
def test_a_changed_bilm_computes_with_its_new_weights(
    bilm: BiLm, change: Change, recurrence: str
) -> None:
    bilm.recurrence = recurrence
    ids = torch.randint(1, 262, (2, 3, 50), generator=torch.Generator().manual_seed(1))
    before, digest = bilm(ids).layers, bilm.digest()
    change(bilm)
    after = bilm(ids).layers
    assert before.dtype != after.dtype or not torch.equal(after, before)
    assert bilm.digest() != digest
    fresh = BiLm(bilm.options).eval().double()
    fresh.load_state_dict(bilm.state_dict())
    fresh.recurrence = "reference"
    assert_near(after, fresh(ids).layers)


def test_functional_call_computes_with_the_given_parameters(bilm: BiLm) -> None:
    ids = ids_of("a play")
    before = bilm(ids).layers
    doubled = {name: 2 * tensor for name, tensor in bilm.state_dict().items()}
    layers = torch.func.functional_call(bilm, doubled, (ids,)).layers
    assert torch.equal(layers, BiLm(bilm.options, weights=doubled.items())(ids).layers)
    assert torch.equal(bilm(ids).layers, before)


@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 3, 4)])
def test_an_uncounted_write_to_a_transposed_weight_is_noticed(shape: tuple[int, ...]) -> None:
    weight = torch.zeros(shape)
    transposed = weight.permute(*reversed(range(len(shape))))
    derived = DerivedValues([transposed])
    assert derived.is_valid_for([transposed])
    weight.numpy()[:] = 1
    assert not derived.is_valid_for([transposed])


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda bilm: pickle.loads(pickle.dumps(bilm))]
)
def test_copies_and_pickles_start_with_empty_caches(
    bilm: BiLm, duplicate: Callable[[BiLm], BiLm]
) -> None:
    size = len(pickle.dumps(bilm))
    layers = bilm(ids_of("a play")).layers
    assert len(pickle.dumps(bilm)) == size
    other = duplicate(bilm)
    assert torch.equal(other(ids_of("a play")).layers, layers)
    other.token_encoder.projection.weight.mul_(2)
    other.refresh()
    assert torch.equal(bilm(ids_of("a play")).layers, layers)


@pytest.mark.slow
def test_a_process_forked_while_a_thread_embeds_can_embed(bilm: BiLm) -> None:
    expected = bilm(ids_of("the mat sat")).layers
    is_over = threading.Event()

    def embed() -> None:
        while not is_over.is_set():
            bilm.clear_word_cache()
            bilm.embed([["new", "words"], ["the"]])

    def check() -> None:
        torch.testing.assert_close(bilm(ids_of("the mat sat")).layers, expected)

    thread = threading.Thread(target=embed)
    thread.start()
    try:
        for _ in range(10):
            assert ends_well_in_a_fork(check)
    finally:
        is_over.set()
        thread.join()


class CountingCache:
    """Stores nothing, and remembers the digests that it was called with."""

    def __init__(self) -> None:
        self.digests: list[bytes] = []

    def run(
        self, compute: Callable[[Tensor], BiLmOutput], digest: bytes, ids: Tensor, *_: int
    ) -> BiLmOutput:
        self.digests.append(digest)
        return compute(ids)


def test_the_cache_digest_depends_on_the_precision_of_the_call(bilm: BiLm) -> None:
    cache, ids = CountingCache(), ids_of("a play")
    bilm.forward_cached(ids, cache=cache)
    computed = precision_on(torch.device("cpu"), "bfloat16").name  # float32 on an older processor
    assert cache.digests == [bilm.digest("float32")]
    assert bilm.digest("bfloat16") == bilm.digest(computed)
    assert computed == "float32" or bilm.digest("bfloat16") not in cache.digests
    change_one_value_unseen_and_refresh(bilm)
    bilm.forward_cached(ids, cache=cache)
    assert cache.digests[1] == bilm.digest() != cache.digests[0]
    bilm.requires_grad_(True)
    assert bilm.forward_cached(ids, cache=cache).layers.requires_grad and len(cache.digests) == 2
