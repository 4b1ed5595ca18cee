"""Work in several processes."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from elmo_plugin.common.workers import map_in_processes

WORKERS = 2


def begin(offset: int) -> None:
    global _offset
    _offset = offset


def add_offset(number: int) -> int:
    """The first numbers take longest, so that later ones are ready before them."""
    time.sleep(0.2 / (number + 1))
    return number + _offset


def fail_at_three(number: int) -> int:
    if number == 3:
        raise ValueError(f"number {number} cannot be used")
    return number


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def process_number(number: int) -> int:
    return os.getpid()


def test_results_come_in_the_order_of_the_items() -> None:
    found = list(map_in_processes(add_offset, range(9), WORKERS, begin, (100,)))
    assert found == [(number, number + 100) for number in range(9)]


@pytest.mark.slow
def test_no_more_items_are_read_than_the_workers_need_next() -> None:
    num_read = 0

    def count() -> Iterator[int]:
        nonlocal num_read
        for number in range(30):
            num_read += 1
            yield number

    for number, _ in map_in_processes(add_offset, count(), WORKERS, begin, (0,)):
        assert num_read - number <= 2 * WORKERS + 1


@pytest.mark.slow
def test_an_error_of_an_item_is_raised_in_its_place() -> None:
    found = map_in_processes(fail_at_three, range(9), WORKERS, begin, (0,))
    assert [next(found) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]
    with pytest.raises(ValueError, match="number 3 cannot be used"):
        next(found)


@pytest.mark.slow
def test_a_killed_worker_is_one_sentence() -> None:
    with pytest.raises(ChildProcessError, match=r"^a worker was killed, perhaps for lack of m"):
        list(map_in_processes(die_at_three, range(9), WORKERS, begin, (0,)))


@pytest.mark.slow
def test_no_worker_is_left_after_a_stop() -> None:
    def read_until_stopped() -> Iterator[int]:
        yield from range(6)
        raise KeyboardInterrupt

    processes = set()
    with pytest.raises(KeyboardInterrupt):
        for _, process in map_in_processes(
            process_number, read_until_stopped(), WORKERS, begin, (0,)
        ):
            processes.add(process)
    assert processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
