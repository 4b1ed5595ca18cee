"""Segments embedded and written as chunks, in this process or in several."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any, NamedTuple

import torch

from elmo_plugin.common.process import use_mmap_for_large_blocks
from elmo_plugin.embed_files.embedder import Embedder
from elmo_plugin.embed_files.resume import write_chunk
from elmo_plugin.embed_files.settings import EmbedSettings
from elmo_plugin.embed_files.text import Segment

_STOPS = (signal.SIGINT, signal.SIGTERM)
_SEGMENTS_AHEAD = 2  # of each worker, read before they are needed


class Job(NamedTuple):
    """
    segment: to be embedded
    path: of its chunk
    description: how the output is made
    """

    segment: Segment
    path: Path
    description: Mapping[str, Any]


def write_chunks(
    jobs: Iterable[Job], embedder: Embedder, settings: EmbedSettings, devices: Sequence[str]
) -> Iterator[tuple[Segment, int]]:
    """
    Embeds segments: on one device in this process, on several in a process for each. Yields each segment, in
    order, with the number of its words, when its chunk is written.

    # Parameters

    jobs : `Iterable[Job]`
        Taken as they are needed.
    embedder : `Embedder`
        Made with the settings. Other processes make their own.
    settings : `EmbedSettings`
        How segments are embedded.
    devices : `Sequence[str]`
        The device of each worker.

    Raises `RuntimeError` if a process was killed.
    """
    if len(devices) == 1:
        use_mmap_for_large_blocks()
        with _threads(settings.threads):
            for job in jobs:
                yield job.segment, embed_segment(embedder, job)
        return
    context = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU
    free_devices = context.SimpleQueue()
    for device in devices:
        free_devices.put(device)
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(len(devices), context, _start_worker, (settings, free_devices)) as pool:
        try:
            yield from _in_order(pool, jobs, _SEGMENTS_AHEAD * len(devices))
        except BrokenProcessPool:
            raise RuntimeError(
                "a worker has died, perhaps for lack of memory; start again with fewer workers to continue"
            ) from None
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.kill()  # it writes a chunk whole or not at all, so there is nothing to wait for
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def embed_segment(embedder: Embedder, job: Job) -> int:
    """Writes the chunk of a segment. Returns the number of its words."""
    words, vectors = embedder.embed(job.segment)
    write_chunk(job.path, job.segment, words, vectors, job.description)
    return len(vectors)


def _in_order(pool: ProcessPoolExecutor, jobs: Iterable[Job], ahead: int) -> Iterator[tuple[Segment, int]]:
    submitted: deque[tuple[Segment, Future[int]]] = deque()
    for job in jobs:
        with _signals_held():
            submitted.append((job.segment, pool.submit(_embed_segment, job)))
        if len(submitted) > ahead:
            first, words = submitted.popleft()
            yield first, words.result()
    for first, words in submitted:
        yield first, words.result()


@contextmanager
def _signals_held() -> Iterator[None]:
    """
    Delays signals that stop this process, and blocks them in the processes that it starts and ends itself.
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


def _start_worker(settings: EmbedSettings, free_devices: "SimpleQueue[str]") -> None:
    global _embedder
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    use_mmap_for_large_blocks()
    torch.set_num_threads(settings.threads)
    _embedder = Embedder(settings, free_devices.get())


def _end_with_parent() -> None:
    """Ends this process when its parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _embed_segment(job: Job) -> int:
    return embed_segment(_embedder, job)
