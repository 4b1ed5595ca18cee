"""One run of a biLM for all who ask for the same words, and never an answer to another question."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.memo import MAX_ENTRIES, Memo
from tests.bilm.conftest import BiLmMaker
from tests.small_bilm import small_options

BATCHES = [[["a", "cat"]], [["the", "mat", "sat"]], [["a", "dog"]], [["the"]], [["mats"]]]


class User:
    def __init__(self, requires_grad: bool = False, reads_memo: bool = True) -> None:
        self.requires_grad = requires_grad
        self.reads_memo = reads_memo
        self.cache = None


def ids(number: int = 0) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids(BATCHES[number]))


@pytest.fixture
def bilm(make_bilm: BiLmMaker) -> BiLm:
    return make_bilm().requires_grad_(False)


@pytest.fixture
def runs(bilm: BiLm) -> list[None]:
    """Has an item for each run of the biLM."""
    counted: list[None] = []
    bilm.register_forward_hook(lambda *_: counted.append(None))
    return counted


def users_of(bilm: BiLm, number: int = 2) -> list[User]:
    users = [User() for _ in range(number)]
    for user in users:
        bilm.memo.join(user)
    return users


def ask(bilm: BiLm, user: User, character_ids: Tensor) -> Tensor:
    with torch.no_grad():
        return bilm.memo.run(bilm, character_ids, user).layers


def test_two_users_of_the_same_words_share_one_run(bilm: BiLm, runs: list[None]) -> None:
    first, second = users_of(bilm)
    layers = ask(bilm, first, ids())
    assert ask(bilm, second, ids()) is layers and len(runs) == 1
    assert torch.equal(bilm(ids()).layers, layers)


def test_three_users_share_one_run_in_any_order_even_where_one_asks_twice(
    bilm: BiLm, runs: list[None]
) -> None:
    users = users_of(bilm, 3)
    for number in (0, 0, 2, 0, 1):
        ask(bilm, users[number], ids())
    assert len(runs) == 1


def test_two_batches_in_turn_are_run_once_each(bilm: BiLm, runs: list[None]) -> None:
    for user in users_of(bilm):
        ask(bilm, user, ids(0))
        ask(bilm, user, ids(1))
    assert len(runs) == 2


def test_an_output_is_dropped_when_all_have_had_it(bilm: BiLm, runs: list[None]) -> None:
    first, second = users_of(bilm)
    layers = weakref.ref(ask(bilm, first, ids()))
    assert layers() is not None
    ask(bilm, second, ids())
    gc.collect()
    assert layers() is None
    ask(bilm, first, ids())
    assert len(runs) == 2


def test_only_the_last_few_outputs_are_kept(bilm: BiLm, runs: list[None]) -> None:
    first, second = users_of(bilm)
    for number in range(MAX_ENTRIES + 1):
        ask(bilm, first, ids(number))
    for number in reversed(range(MAX_ENTRIES + 1)):
        ask(bilm, second, ids(number))
    assert len(runs) == MAX_ENTRIES + 2, "the oldest had to be computed again"


@pytest.mark.parametrize(
    "reason", ["alone", "the other is gone", "the other left", "the other does not read"]
)
def test_nothing_is_kept_where_nobody_else_would_read_it(bilm: BiLm, runs: list[None], reason: str) -> None:
    (user,) = users_of(bilm, 1)
    other = User(reads_memo=reason != "the other does not read")
    if reason != "alone":
        bilm.memo.join(other)
    if reason == "the other is gone":
        del other
    if reason == "the other left":
        bilm.memo.leave(other)
    layers = weakref.ref(ask(bilm, user, ids()))
    gc.collect()
    assert layers() is None and len(runs) == 1


@pytest.mark.parametrize("by_numpy", [False, True])
def test_words_changed_in_place_are_computed_anew(bilm: BiLm, runs: list[None], by_numpy: bool) -> None:
    first, second = users_of(bilm)
    words = ids(0)
    ask(bilm, first, words)
    if by_numpy:
        np.copyto(words.numpy(), ids(2).numpy())
    else:
        words.copy_(ids(2))
    assert torch.equal(ask(bilm, second, words), bilm(ids(2)).layers)
    runs.clear()
    assert torch.equal(ask(bilm, second, ids(0)), bilm(ids(0)).layers)
    assert len(runs) == 1, "the first batch is still known, under its words as they were"


def test_other_padding_or_another_type_is_computed_anew(bilm: BiLm, runs: list[None]) -> None:
    first, second = users_of(bilm)
    ask(bilm, first, ids())
    assert ask(bilm, second, torch.nn.functional.pad(ids(), (0, 0, 0, 1))).size(2) == 3
    ask(bilm, second, ids().long())
    assert len(runs) == 3


def change_in_place(bilm: BiLm) -> None:
    with torch.no_grad():
        bilm.backward_lm.layers[1].projection_weight[0, 0] += 1


def load_other_weights(bilm: BiLm) -> None:
    bilm.load_state_dict(BiLm(bilm.options).state_dict())


def replace_a_parameter(bilm: BiLm) -> None:
    weight = bilm.token_encoder.projection.weight
    bilm.token_encoder.projection.weight = torch.nn.Parameter(2 * weight, requires_grad=False)


@pytest.mark.parametrize("change", [change_in_place, load_other_weights, replace_a_parameter])
def test_other_weights_give_another_output(bilm: BiLm, change) -> None:
    first, second = users_of(bilm)
    before = ask(bilm, first, ids())
    change(bilm)
    after = ask(bilm, second, ids())
    assert not torch.equal(after, before)
    assert torch.equal(after, bilm(ids()).layers)


def test_a_bilm_that_is_being_trained_is_run_each_time(bilm: BiLm, runs: list[None]) -> None:
    bilm.requires_grad_(True)
    for user in users_of(bilm):
        ask(bilm, user, ids())
    assert len(runs) == 2


def test_another_way_to_compute_is_another_run(bilm: BiLm, runs: list[None]) -> None:
    first, second = users_of(bilm)
    ask(bilm, first, ids())
    bilm.recurrence = "reference"
    ask(bilm, second, ids())
    assert len(runs) == 2


def test_copies_and_pickles_start_empty(bilm: BiLm) -> None:
    first, second = users_of(bilm)
    layers = ask(bilm, first, ids())
    for fresh in (copy.deepcopy(bilm), pickle.loads(pickle.dumps(bilm))):
        assert isinstance(fresh.memo, Memo) and fresh.memo is not bilm.memo
        assert fresh.memo.users() == []
        assert ask(fresh, second, ids()) is not layers
    assert ask(bilm, second, ids()) is layers


def test_forget_drops_all(bilm: BiLm, runs: list[None]) -> None:
    first, second = users_of(bilm)
    ask(bilm, first, ids())
    bilm.memo.forget()
    ask(bilm, second, ids())
    assert len(runs) == 2


def test_threads_get_the_answers_to_their_own_questions(bilm: BiLm) -> None:
    users = users_of(bilm, 3)
    expected = [bilm(ids(number)).layers for number in range(len(BATCHES))]
    wrong: list[int] = []

    def work(user: User, start: int) -> None:
        for step in range(40):
            number = (start + step * (start + 1)) % len(BATCHES)
            if not torch.allclose(ask(bilm, user, ids(number)), expected[number], atol=1e-6):
                wrong.append(number)

    threads = [
        threading.Thread(target=work, args=(user, start)) for start, user in enumerate([*users, users[0]])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.booleans(), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_every_answer_is_that_of_the_bilm_whatever_changes_between(
    steps: list[tuple[int, int, bool, bool]],
) -> None:
    torch.manual_seed(0)
    bilm = BiLm(BiLmOptions.from_dict(small_options())).eval().requires_grad_(False)
    users = users_of(bilm, 3)
    buffers = [torch.from_numpy(sentences_to_character_ids([["dog", "mat"]])) for _ in range(2)]
    for user, buffer, change_words, change_weights in steps:
        words = buffers[buffer]
        if change_words:
            words.copy_(words.flip(1))
        if change_weights:
            change_in_place(bilm)
        assert torch.equal(ask(bilm, users[user], words), bilm(words).layers)
