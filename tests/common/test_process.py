"""Locks that keep threads out, and not forked processes; functions side by side; devices of AllenNLP."""

import threading
import time

import pytest
import torch

from elmo_plugin.common.process import ForkSafeLock, cuda_number, run_side_by_side, torch_threads
from tests.forks import ends_well_in_a_fork


def test_a_lock_held_by_the_parent_is_free_in_a_forked_child() -> None:
    lock = ForkSafeLock()

    def work() -> None:
        with lock:
            pass

    with lock:
        assert ends_well_in_a_fork(work)
    assert ends_well_in_a_fork(work)


def test_only_a_gpu_has_a_number_for_allennlp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert cuda_number("cuda") == 0
    assert cuda_number("cuda:1") == 1
    for name in ("cpu", "cpu:0"):
        assert cuda_number(name) == -1


def test_functions_run_at_the_same_time_with_the_threads_they_are_given() -> None:
    meeting = threading.Barrier(2, timeout=60)  # fails unless both are there at once
    numbers = []

    def compute() -> None:
        meeting.wait()
        numbers.append(torch.get_num_threads())
        meeting.wait()

    with torch_threads(4):
        run_side_by_side([compute, compute], 2)
        assert torch.get_num_threads() == 4
    assert numbers == [2, 2]


def test_a_thread_that_starts_meanwhile_has_all_threads_of_torch() -> None:
    numbers = []

    def compute() -> None:
        # The other function has its threads, and `run_side_by_side` has gone on, long before this.
        time.sleep(0.5)
        later = threading.Thread(target=lambda: numbers.append(torch.get_num_threads()))
        later.start()
        later.join()

    with torch_threads(4):
        run_side_by_side([compute, lambda: None], 2)
    assert numbers == [4]


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_either_function_is_raised_after_both_have_ended(failing: int) -> None:
    ended = threading.Event()

    def fail() -> None:
        raise ValueError("it failed")

    def end() -> None:
        time.sleep(0.1)
        ended.set()

    functions = [end, end]
    functions[failing] = fail
    before = threading.active_count()
    with torch_threads(2):
        with pytest.raises(ValueError, match="it failed"):
            run_side_by_side(functions, 1)
        assert torch.get_num_threads() == 2
    assert ended.is_set()
    assert threading.active_count() == before
