"""Locks that keep threads out, and not forked processes; functions side by side; devices of AllenNLP."""

import threading

import pytest
import torch

from elmo_plugin.common.process import (
    ForkSafeLock,
    can_set_own_threads,
    cuda_number,
    run_side_by_side,
    torch_threads,
)
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


needs_own_threads = pytest.mark.skipif(
    not can_set_own_threads(), reason="torch's OpenMP is not the first of this process"
)


@needs_own_threads
def test_functions_run_at_the_same_time_with_the_threads_they_are_given() -> None:
    meeting = threading.Barrier(2, timeout=60)  # fails unless both are there at once
    numbers = []

    def compute() -> None:
        meeting.wait()
        numbers.append(torch.get_num_threads())
        meeting.wait()

    with torch_threads(4):
        run_side_by_side(compute, compute, 2)
        assert torch.get_num_threads() == 4
    assert numbers == [2, 2]


@needs_own_threads
def test_threads_that_start_meanwhile_have_all_threads_of_torch() -> None:
    numbers = []

    def compute() -> None:
        later = threading.Thread(target=lambda: numbers.append(torch.get_num_threads()))
        later.start()
        later.join()

    with torch_threads(4):
        for _ in range(20):
            run_side_by_side(compute, compute, 2)
    assert numbers == [4] * 40


@needs_own_threads
def test_an_error_of_the_second_function_is_raised() -> None:
    def fail() -> None:
        raise ValueError("it failed")

    with torch_threads(2):
        with pytest.raises(ValueError, match="it failed"):
            run_side_by_side(lambda: None, fail, 1)
        assert torch.get_num_threads() == 2


@needs_own_threads
def test_an_error_of_the_first_function_does_not_wait_for_the_second() -> None:
    is_over = threading.Event()
    ended = threading.Event()

    def fail() -> None:
        raise KeyboardInterrupt

    def wait() -> None:
        assert is_over.wait(timeout=60)
        ended.set()

    with torch_threads(2):
        with pytest.raises(KeyboardInterrupt):
            run_side_by_side(fail, wait, 1)
        assert torch.get_num_threads() == 2
    assert not ended.is_set()
    is_over.set()
    assert ended.wait(timeout=60)


@needs_own_threads
def test_where_no_thread_can_start_the_functions_run_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    called = []
    run_side_by_side(lambda: called.append(1), lambda: called.append(2), 1)
    assert called == [1, 2]
