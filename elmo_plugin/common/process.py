"""
A process: its locks, torch's threads and devices, and how glibc treats freed memory.

By default glibc keeps freed blocks of up to 32 MB for later, so a process that embeds for hours
grows by hundreds of megabytes.
"""

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from elmo_plugin.common.errors import BiLmError

if TYPE_CHECKING:
    import torch

# Parameters of glibc's `mallopt`, as in its malloc.h.
_TRIM_THRESHOLD = -1
_TOP_PAD = -2
_MMAP_THRESHOLD = -3


class ForkSafeLock:
    """
    A lock for threads that is free in a forked child, even if another thread of the parent holds it
    at the fork. The child may thus see guarded values in the middle of a change, so they must be
    valid at any moment.
    """

    def __init__(self) -> None:
        # Each process has a lock of its own, found by its number.
        self._locks: dict[int, threading.Lock] = {}

    def __enter__(self) -> None:
        self._locks.setdefault(os.getpid(), threading.Lock()).acquire()

    def __exit__(self, *_: object) -> None:
        self._locks[os.getpid()].release()


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """
    Switches Python's garbage collection off within the block. The block imports thousands of
    modules: collecting takes long there, and finds little.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Makes torch compute with `number` threads within the block."""
    import torch  # here, as some commands do without it

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run_side_by_side(functions: Sequence[Callable[[], None]], threads_each: int) -> None:
    """
    Runs these functions at the same time, each in a thread of its own that computes with
    `threads_each` of torch's threads. These threads end before this function does.
    """
    import torch

    before = torch.get_num_threads()
    started = threading.Semaphore(0)  # counts the functions that have their number of threads

    def run(function: Callable[[], None]) -> None:
        torch.get_num_threads()  # the first call in a thread sets it to the number of all threads
        torch.set_num_threads(threads_each)
        started.release()
        function()

    with ThreadPoolExecutor(len(functions)) as executor:
        futures = [executor.submit(run, function) for function in functions]
        for _ in functions:
            started.acquire()
        # torch gives the number that was set last to all threads that start computing later.
        torch.set_num_threads(before)
        for future in futures:
            future.result()


def get_device(name: "str | int | torch.device") -> "torch.device":
    """
    Returns a device of torch; for "cuda", the first GPU. Raises `BiLmError` if that is no name of a
    device, or this machine does not have that GPU.
    """
    import torch

    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise BiLmError(f'device: expected "cpu", "cuda" or "cuda:N", got {name!r:.60}') from None
    if device.type != "cuda":
        return device
    number = device.index or 0  # the index of "cuda" is `None`
    count = torch.cuda.device_count()
    if number >= count:
        raise BiLmError(f"GPU not found: {name} (this machine has {count})")
    return torch.device("cuda", number)


def cuda_number(name: str) -> int:
    """
    Returns a device as AllenNLP's option `cuda_device`: the number of a GPU, or -1 for the CPU.
    Raises `BiLmError` if this machine does not have that device.
    """
    device = get_device(name)
    if device.type != "cuda":
        return -1
    return device.index


def use_mmap_for_large_blocks() -> None:
    """
    Makes the process return freed blocks of a megabyte or more to the system at once: glibc gets
    such blocks by `mmap`, each separately.
    """
    _set_malloc_options({_MMAP_THRESHOLD: 2**20})


def keep_freed_memory() -> None:
    """Keeps freed memory for the next arrays: training on a CPU takes a tenth less time."""
    _set_malloc_options({_TRIM_THRESHOLD: 2**31 - 1, _TOP_PAD: 2**26, _MMAP_THRESHOLD: 2**30})


def _set_malloc_options(options: dict[int, int]) -> None:
    """Sets options of glibc's `malloc`; does nothing with another C library."""
    if sys.platform != "linux":
        return
    library: Any = ctypes.CDLL(None)  # all libraries of this process
    if hasattr(library, "gnu_get_libc_version"):
        for option, size in options.items():
            library.mallopt(option, size)
