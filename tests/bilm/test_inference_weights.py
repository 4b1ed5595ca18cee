"""What is derived from frozen weights is derived once, and again after every change of them."""

import copy
import pickle
import threading
from collections.abc import Callable

import pytest
import torch
from torch import nn

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.inference_weights import InferenceWeights, parameter_versions
from tests.bilm.conftest import BiLmMaker
from tests.close import assert_near

Change = Callable[[BiLm], object]


class Counter:
    """Derives another value each time."""

    def __init__(self) -> None:
        self.derived = 0

    def __call__(self) -> int:
        self.derived += 1
        return self.derived


@pytest.fixture
def bilm(make_bilm: BiLmMaker) -> BiLm:
    return make_bilm().requires_grad_(False)


@pytest.fixture
def derive() -> Counter:
    return Counter()


def get(bilm: BiLm, key: str, derive: Counter) -> int:
    weights = bilm.inference_weights()
    assert weights is not None
    return weights.get((key,), derive)


def test_a_value_is_derived_once_for_the_same_key_and_weights(bilm: BiLm, derive: Counter) -> None:
    assert [get(bilm, "a", derive) for _ in range(3)] == [1, 1, 1]
    assert get(bilm, "b", derive) == 2
    assert get(bilm, "a", derive) == 1


def change_in_place(bilm: BiLm) -> None:
    bilm.backward_lm.layers[1].projection_weight[0, 0] += 1


def change_in_inference_mode(bilm: BiLm) -> None:
    with torch.inference_mode():
        bilm.token_encoder.projection.weight.mul_(2)


def load_other_weights(bilm: BiLm) -> None:
    bilm.load_state_dict(BiLm(bilm.options).state_dict())


def replace_a_parameter(bilm: BiLm) -> None:
    shape = bilm.forward_lm.layers[0].bias.shape
    bilm.forward_lm.layers[0].bias = nn.Parameter(torch.ones(shape), requires_grad=False)


def replace_a_parameter_by_one_in_its_memory(bilm: BiLm) -> None:
    """Memory that is freed is given out again, which must not look like the same weights."""
    layer = bilm.forward_lm.layers[0]
    old = layer.input_weight.detach().numpy().copy()
    del layer.input_weight
    layer.input_weight = nn.Parameter(torch.from_numpy(2 * old), requires_grad=False)


def change_unseen_and_move(bilm: BiLm) -> None:
    for parameter in bilm.parameters():
        parameter.data.mul_(2)  # not counted by torch
    bilm.to("cpu")


def change_unseen_and_move_from_outside(bilm: BiLm) -> None:
    for parameter in bilm.parameters():
        parameter.data.mul_(2)
    nn.ModuleList([bilm]).to("cpu")


def train_a_step(bilm: BiLm) -> None:
    recurrence, bilm.recurrence = bilm.recurrence, "auto"
    bilm.requires_grad_(True)
    optimizer = torch.optim.SGD(bilm.parameters(), lr=0.1)
    bilm(torch.ones(1, 2, 50, dtype=torch.long)).layers.sum().backward()
    optimizer.step()
    bilm.requires_grad_(False)
    bilm.recurrence = recurrence


CHANGES: list[Change] = [
    change_in_place,
    change_in_inference_mode,
    load_other_weights,
    replace_a_parameter,
    replace_a_parameter_by_one_in_its_memory,
    change_unseen_and_move,
    change_unseen_and_move_from_outside,
    train_a_step,
    lambda bilm: bilm.double(),
    lambda bilm: bilm.token_encoder.double(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_the_weights_drops_what_was_derived(
    bilm: BiLm, derive: Counter, change: Change
) -> None:
    get(bilm, "a", derive)
    change(bilm)
    assert get(bilm, "a", derive) == 2
    assert get(bilm, "a", derive) == 2


@pytest.mark.parametrize("change", CHANGES[:-1])
@pytest.mark.parametrize("recurrence", ["sequential", "batched_directions"])
def test_after_every_change_the_bilm_computes_with_its_weights(
    bilm: BiLm, change: Change, recurrence: str
) -> None:
    bilm.recurrence = recurrence
    ids = torch.randint(1, 262, (2, 3, 50), generator=torch.Generator().manual_seed(1))
    before = bilm(ids).layers
    change(bilm)
    after = bilm(ids).layers
    assert before.dtype != after.dtype or not torch.equal(after, before)
    fresh = BiLm(bilm.options).eval().double()
    fresh.load_state_dict(bilm.state_dict())
    fresh.recurrence = "reference"
    assert_near(after, fresh(ids).layers)


def test_moving_a_bilm_does_not_keep_the_old_weights_in_memory(bilm: BiLm) -> None:
    bilm(torch.ones(1, 2, 50, dtype=torch.long))
    bilm.double()
    assert bilm._inference_weights is None, "until the next batch"


def test_nothing_is_derived_from_weights_that_are_trained(bilm: BiLm) -> None:
    bilm.forward_lm.layers[0].bias.requires_grad_(True)
    assert bilm.inference_weights() is None, "torch does not count all that an optimizer changes"
    bilm.requires_grad_(False)
    assert bilm.inference_weights() is not None
    bilm.requires_grad_(True)
    assert bilm.inference_weights() is None


def test_nothing_is_derived_from_weights_whose_changes_are_not_counted(make_bilm: BiLmMaker) -> None:
    with torch.inference_mode():
        bilm = make_bilm().requires_grad_(False)
        ids = torch.ones(1, 2, 50, dtype=torch.long)
        before = bilm(ids).layers
        assert bilm.inference_weights() is None
        bilm.token_encoder.projection.weight.mul_(2)
        assert not torch.equal(bilm(ids).layers, before)
    assert parameter_versions(bilm.parameters()) is None


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda bilm: pickle.loads(pickle.dumps(bilm))])
def test_copies_and_pickles_start_empty(
    bilm: BiLm, derive: Counter, duplicate: Callable[[BiLm], BiLm]
) -> None:
    size = len(pickle.dumps(bilm))
    bilm(torch.ones(1, 2, 50, dtype=torch.long))
    get(bilm, "a", derive)
    assert len(pickle.dumps(bilm)) == size
    other = duplicate(bilm)
    assert get(other, "a", derive) == 2
    change_in_place(other)
    assert get(bilm, "a", derive) == 1, "what happens to a copy does not reach the original"


def test_dropped_types_leave_the_packed_lstm_weights(bilm: BiLm, derive: Counter) -> None:
    get(bilm, "lstm", derive)
    get(bilm, "types", derive)
    bilm.clear_word_cache()
    assert get(bilm, "lstm", derive) == 1
    assert get(bilm, "types", derive) == 3


def test_threads_get_one_value_whatever_is_dropped_meanwhile() -> None:
    weights, wrong = InferenceWeights([]), []
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        for number in range(200):
            value = weights.get(("lstm", number), object)
            if weights.get(("lstm", number), object) is not value:
                wrong.append(number)
            weights.get(("types", number), object)
            weights.drop("types")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_reading_data_and_copying_drop_nothing(bilm: BiLm, derive: Counter) -> None:
    loaded = BiLm.from_weights(bilm.options, bilm.state_dict().items())
    get(loaded, "a", derive)
    copy.deepcopy(loaded)
    assert all(parameter.data.isfinite().all() for parameter in loaded.parameters())
    assert get(loaded, "a", derive) == 1


def test_values_that_were_changed_through_data_are_used_when_the_bilm_is_told(bilm: BiLm) -> None:
    loaded = BiLm.from_weights(bilm.options, bilm.state_dict().items())
    before = loaded.embed([["play"]])[0]
    for parameter in loaded.parameters():
        parameter.data.mul_(0.5)
    loaded.refresh()
    halved = {name: 0.5 * tensor for name, tensor in bilm.state_dict().items()}
    assert torch.equal(
        loaded.embed([["play"]])[0], BiLm.from_weights(bilm.options, halved.items()).embed([["play"]])[0]
    )
    assert not torch.allclose(loaded.embed([["play"]])[0], before)
