"""Passages embedded in this process, or in several."""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import torch

from elmo_plugin.common.files import replace_when_written
from elmo_plugin.common.malloc import keep_large_blocks_apart
from elmo_plugin.embed_files.embedder import Embedder
from elmo_plugin.embed_files.formats import make_format
from elmo_plugin.embed_files.part import Part
from elmo_plugin.embed_files.passage import Passage
from elmo_plugin.embed_files.settings import Settings
from elmo_plugin.embed_files.tokenizers import make_tokenizer

_WAITING = 2  # passages for each worker that are ready before it asks for them


@dataclass(frozen=True)
class Job:
    """
    # Parameters

    passage : `Passage`
        What is embedded.
    path : `Path`
        The part that is written.
    """

    passage: Passage
    path: Path


class Worker:
    """
    # Parameters

    embedder : `Embedder`
        Made with the settings.
    settings : `Settings`
        How passages are embedded.
    output_format : `str`
        One of `formats.FORMATS`.
    """

    def __init__(self, embedder: Embedder, settings: Settings, output_format: str) -> None:
        keep_large_blocks_apart()
        self._embedder = embedder
        self._tokenize = make_tokenizer(settings.tokenizer, settings.language)
        self._format = make_format(output_format, settings, embedder.row_shape)

    def do(self, job: Job) -> int:
        """Writes the part, whole or not at all. Gives the number of its words."""
        passage = job.passage
        words = [self._tokenize(sentence) for sentence in passage.sentences]
        part = Part(passage.first_line, passage.sentences, words, self._embedder.embed(words))
        with replace_when_written(job.path) as temporary:
            self._format.write(temporary, part, {"text": passage.digest()})
        return sum(map(len, words))


def do_jobs(
    jobs: Iterable[Job],
    embedder: Embedder,
    settings: Settings,
    output_format: str,
    devices: Sequence[str],
) -> Iterator[tuple[Passage, int]]:
    """
    Does all jobs, on one device in this process, else in a process for each device. Gives each passage, in
    order, with the number of its words when its part is written.

    # Parameters

    jobs : `Iterable[Job]`
        Taken as they are needed.
    embedder, settings, output_format
        See `Worker`. Other processes load an embedder of their own.
    devices : `Sequence[str]`
        The device of each worker.

    Raises `RuntimeError` where a process was killed.
    """
    if len(devices) == 1:
        with _threads(settings.threads):
            worker = Worker(embedder, settings, output_format)
            for job in jobs:
                yield job.passage, worker.do(job)
        return
    context = multiprocessing.get_context("spawn")  # the one way that goes with GPUs
    free_devices = context.SimpleQueue()
    for device in devices:
        free_devices.put(device)
    arguments = settings, output_format, free_devices
    with ProcessPoolExecutor(len(devices), context, _start_worker, arguments) as pool:
        try:
            yield from _in_order(pool, jobs, _WAITING * len(devices))
        except BrokenProcessPool:
            raise RuntimeError(
                "a worker has died, perhaps for want of memory; start again, with fewer workers, to go on"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, jobs: Iterable[Job], waiting: int) -> Iterator[tuple[Passage, int]]:
    submitted: deque[tuple[Passage, Future[int]]] = deque()
    for job in jobs:
        submitted.append((job.passage, pool.submit(_do, job)))
        if len(submitted) > waiting:
            passage, done = submitted.popleft()
            yield passage, done.result()
    for passage, done in submitted:
        yield passage, done.result()


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """Computes in so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_worker: Worker  # of this process, if it is one of several


def _start_worker(settings: Settings, output_format: str, free_devices: "SimpleQueue[str]") -> None:
    global _worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(settings.threads)
    _worker = Worker(Embedder.load(settings, free_devices.get()), settings, output_format)


def _end_with_parent() -> None:
    """Nobody else ends this process when the one that started it is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(job: Job) -> int:
    return _worker.do(job)
