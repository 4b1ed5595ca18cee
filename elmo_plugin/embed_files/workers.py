"""Passages embedded and written as chunks, in this process or in several."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_plugin.common.heap import keep_large_blocks_apart
from elmo_plugin.embed_files.embedder import Embedder
from elmo_plugin.embed_files.resume import write_chunk
from elmo_plugin.embed_files.settings import Settings
from elmo_plugin.embed_files.text import Passage

_STOPS = (signal.SIGINT, signal.SIGTERM)
_PASSAGES_AHEAD = 2  # for each worker, that are ready before it asks for them


class Job(NamedTuple):
    """
    passage: what is embedded
    path: where its chunk is written
    made_by: see `Chunks`
    """

    passage: Passage
    path: Path
    made_by: str = ""


def write_chunks(
    jobs: Iterable[Job], embedder: Embedder, settings: Settings, devices: Sequence[str]
) -> Iterator[tuple[Passage, int]]:
    """
    Embeds passages, on one device in this process, else in a process for each device. Yields each passage, in
    order, with the number of its words when its chunk is written.

    # Parameters

    jobs : `Iterable[Job]`
        Taken as they are needed.
    embedder : `Embedder`
        Made with the settings. Other processes load one of their own.
    settings : `Settings`
        How passages are embedded.
    devices : `Sequence[str]`
        The device of each worker.

    Raises `RuntimeError` where a process was killed.
    """
    if len(devices) == 1:
        keep_large_blocks_apart()
        with _threads(settings.threads):
            for job in jobs:
                yield job.passage, embed_passage(embedder, job)
        return
    context = multiprocessing.get_context("spawn")  # a process that is forked cannot use a GPU
    free_devices = context.SimpleQueue()
    for device in devices:
        free_devices.put(device)
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(len(devices), context, _start_worker, (settings, free_devices)) as pool:
        try:
            yield from _in_order(pool, jobs, _PASSAGES_AHEAD * len(devices))
        except BrokenProcessPool:
            raise RuntimeError(
                "a worker has died, perhaps for want of memory; start again, with fewer workers, to go on"
            ) from None
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.kill()  # it writes a chunk whole or not at all, so there is nothing to wait for
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def embed_passage(embedder: Embedder, job: Job) -> int:
    """Writes the chunk of a passage. Returns the number of its words."""
    words, vectors = embedder.embed(job.passage)
    write_chunk(job.path, job.passage, words, vectors, job.made_by)
    return len(vectors)


def _in_order(pool: ProcessPoolExecutor, jobs: Iterable[Job], ahead: int) -> Iterator[tuple[Passage, int]]:
    submitted: deque[tuple[Passage, Future[int]]] = deque()
    for job in jobs:
        with _signals_held():
            submitted.append((job.passage, pool.submit(_embed_passage, job)))
        if len(submitted) > ahead:
            first, words = submitted.popleft()
            yield first, words.result()
    for first, words in submitted:
        yield first, words.result()


@contextmanager
def _signals_held() -> Iterator[None]:
    """
    Lets signals that stop this process wait, and not reach processes that it starts: it ends them in order,
    and they have nothing to say.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """Computes in this number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_embedder: Embedder  # of this process, if it is one of several


def _start_worker(settings: Settings, free_devices: "SimpleQueue[str]") -> None:
    global _embedder
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_large_blocks_apart()
    torch.set_num_threads(settings.threads)
    _embedder = Embedder.load(settings, free_devices.get())


def _end_with_parent() -> None:
    """Ends this process when the one that started it is killed, which nobody else does."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _embed_passage(job: Job) -> int:
    return embed_passage(_embedder, job)
