import copy
import pickle
import threading

import pytest
import torch
from torch import nn

from elmo_plugin.bilm.kept import Kept, fingerprint


class _Counter:
    """Makes a new value each time, and counts."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> int:
        self.made += 1
        return self.made


def _frozen() -> nn.Linear:
    return nn.Linear(2, 2).requires_grad_(False)


def test_a_value_is_made_once_for_the_same_key_and_weights() -> None:
    kept, linear, make = Kept[int](), _frozen(), _Counter()
    assert [kept.get(linear.parameters(), "a", make) for _ in range(3)] == [1, 1, 1]
    assert kept.get(linear.parameters(), "b", make) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda linear: linear.weight.mul_(2),
        lambda linear: linear.load_state_dict(nn.Linear(2, 2).state_dict()),
        lambda linear: setattr(linear, "weight", nn.Parameter(torch.ones(2, 2), requires_grad=False)),
        lambda linear: linear.double(),
    ],
    ids=["in place", "load_state_dict", "another tensor", "another type"],
)
def test_changed_weights_make_a_new_value(change) -> None:
    kept, linear, make = Kept[int](), _frozen(), _Counter()
    kept.get(linear.parameters(), "a", make)
    change(linear)
    assert kept.get(linear.parameters(), "a", make) == 2


def test_nothing_is_kept_of_weights_that_are_trained_since_not_all_changes_are_counted() -> None:
    kept, linear, make = Kept[int](), nn.Linear(2, 2), _Counter()
    assert [kept.get(linear.parameters(), "a", make) for _ in range(2)] == [1, 2]


def test_nothing_is_kept_of_weights_whose_changes_are_not_counted() -> None:
    with torch.inference_mode():
        weight = torch.zeros(2)
    assert fingerprint([weight]) is None
    kept, make = Kept[int](), _Counter()
    assert [kept.get([weight], "a", make) for _ in range(2)] == [1, 2]


def test_copies_start_without_the_value() -> None:
    kept, linear, make = Kept[int](), _frozen(), _Counter()
    kept.get(linear.parameters(), "a", make)
    for other in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        other.get(linear.parameters(), "a", make)
    assert make.made == 3


def test_threads_make_one_value() -> None:
    kept, linear, make = Kept[int](), _frozen(), _Counter()
    threads = [
        threading.Thread(target=kept.get, args=(list(linear.parameters()), "a", make)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert make.made == 1
