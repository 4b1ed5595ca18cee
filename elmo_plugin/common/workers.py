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

from elmo_plugin.common.logs import PACKAGE_LOGGER, show_log
from elmo_plugin.common.process import use_mmap_for_large_blocks

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_PROCESSES = max(256, os.cpu_count() or 1)  # threads or workers; more would end in a crash
SPAWN = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU
_ITEMS_AHEAD = 2  # how many items are read for each worker before it needs them
_STOPS = (signal.SIGINT, signal.SIGTERM)


def map_in_processes(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    num_workers: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[tuple[Item, Result]]:
    """
    Yields each item, in order, with the result of `function` for it. The results are computed in
    several processes, the workers. Each worker first calls `start(*arguments)`. At an error or
    Ctrl-C the workers are killed, so `function` must write files whole or not at all.

    Raises the errors of `function`, and `ChildProcessError` if a worker was killed.
    """
    pool = ProcessPoolExecutor(
        num_workers,
        mp_context=SPAWN,
        initializer=_start_worker,
        initargs=(PACKAGE_LOGGER.level, start, arguments),
    )
    # The processes by their numbers. They may have to be killed after the pool has dropped them.
    workers = pool._processes
    try:
        with _signals_held():
            # A pool starts a worker only when a task needs one, and would not notice the death of a
            # worker that was started after the last `submit`. So small tasks start all of them now.
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
    Yields each item, in order, with the result that a worker of the pool computes. Submits up to
    `ahead` items before their results are needed. So no worker waits for items, and yet only few
    items and results are in memory.
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
    Processes that are started in the block begin with these signals delayed.
    """
    if sys.platform == "win32":  # Windows cannot delay signals.
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _start_worker(level: int, start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """
    Prepares a new process of the pool, and calls `start(*arguments)` in it. `level` is the level of
    logging in the parent, and becomes the level of this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent gets Ctrl-C too, and kills workers.
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)  # `_signals_held` delayed them
    threading.Thread(target=_end_with_parent, daemon=True).start()
    PACKAGE_LOGGER.setLevel(level)
    parent_is_verbose = level < logging.WARNING
    show_log(verbose=parent_is_verbose)
    use_mmap_for_large_blocks()
    start(*arguments)


def _end_with_parent() -> None:
    """Waits until the parent of this process has ended or was killed, and ends this process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # `sys.exit` would end only this thread
