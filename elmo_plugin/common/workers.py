"""Work in several processes of this machine: in order, stopped together, and none left behind."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from elmo_plugin.common.logs import show_log
from elmo_plugin.common.process import use_mmap_for_large_blocks

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_PROCESSES = max(256, os.cpu_count() or 1)  # threads or workers; more would end in a crash
SPAWN = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU
_ITEMS_AHEAD = 2  # how many items are read for each worker before it needs them
_STOPS = (signal.SIGINT, signal.SIGTERM)
_LOGGER = "elmo_plugin"


def map_in_processes(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    num_workers: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[tuple[Item, Result]]:
    """
    Yields each item, in order, with the result of `function` for it, computed in several processes,
    the workers. Each worker begins with `start(*arguments)`. The workers are killed at an error or
    Ctrl-C, so `function` must write files whole or not at all.

    Raises the errors of `function`, and `ChildProcessError` if a worker was killed.
    """
    level = logging.getLogger(_LOGGER).level
    pool = ProcessPoolExecutor(num_workers, SPAWN, _start_worker, (level, start, arguments))
    workers = pool._processes  # kept here to kill them, because a broken pool forgets them
    try:
        with _signals_held():
            # A pool starts one worker for each task, and notices the death only of workers that
            # existed at the last `submit`. So all of them are started first, by small tasks.
            for _ in range(num_workers):
                pool.submit(os.getpid)
        yield from _results_in_order(pool, function, items, ahead=_ITEMS_AHEAD * num_workers)
    except BaseException as error:
        for worker in list(workers.values()):
            worker.kill()
        if isinstance(error, BrokenProcessPool):
            raise ChildProcessError("a worker was killed, perhaps for lack of memory") from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _results_in_order(
    pool: ProcessPoolExecutor,
    function: Callable[[Item], Result],
    items: Iterable[Item],
    ahead: int,
) -> Iterator[tuple[Item, Result]]:
    """
    Yields each item, in order, with the result that a worker of the pool computes. At most
    `ahead` items more are read and submitted, so that no worker waits, and memory is bounded.
    """
    pending: deque[tuple[Item, Future[Result]]] = deque()
    for item in items:
        with _signals_held():
            pending.append((item, pool.submit(function, item)))
        if len(pending) > ahead:
            first, future = pending.popleft()
            yield first, future.result()
    while pending:
        first, future = pending.popleft()
        yield first, future.result()


@contextmanager
def _signals_held() -> Iterator[None]:
    """
    Delays Ctrl-C and SIGTERM until the block is left, so that they find no process half started.
    Processes that are started in the block begin with the signals blocked.
    """
    if sys.platform == "win32":  # it cannot delay signals
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _start_worker(level: int, start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """
    Prepares a new process of the pool, and calls `start(*arguments)` in it. It logs from `level`
    on, as its parent does.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it and kills workers
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)  # blocked by `_signals_held`
    threading.Thread(target=_end_with_parent, daemon=True).start()
    logging.getLogger(_LOGGER).setLevel(level)
    show_log(verbose=level < logging.WARNING)
    use_mmap_for_large_blocks()
    start(*arguments)


def _end_with_parent() -> None:
    """Waits until the parent of this process has ended or was killed, and ends this process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # waits until the parent has ended
        os._exit(1)
