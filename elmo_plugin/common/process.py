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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from elmo_plugin.common.errors import BiLmError

if TYPE_CHECKING:
    import torch

# Parameters of glibc's `mallopt`, as in its malloc.h. Their values are sizes in bytes.
_TRIM_THRESHOLD = -1  # free memory at the top of the heap beyond this size goes to the system
_TOP_PAD = -2  # when the heap grows, it grows by this much more
_MMAP_THRESHOLD = -3  # blocks from this size on are got by `mmap`, each separately


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
    import torch  # imported here, because it is slow, and some commands do not need it

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run_side_by_side(
    first: Callable[[], None], second: Callable[[], None], threads_each: int
) -> None:
    """
    Runs two functions at the same time, the first one in this thread and the second one in a new
    thread, each with `threads_each` of torch's threads. Raises the error of either function. If the
    first one fails, or Ctrl-C interrupts it, does not wait for the second one: that runs to its end
    in its thread.

    `can_set_own_threads` must be true.
    """
    errors: list[BaseException] = []  # of the second function, at most one

    def run_second() -> None:
        try:
            with _own_torch_threads(threads_each):
                second()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run_second)
    try:
        thread.start()
    except RuntimeError:  # Python is about to end, or this process may not start more threads
        first()
        second()
        return
    with _own_torch_threads(threads_each):
        first()
    thread.join()
    if errors:
        raise errors[0]


@cache
def can_set_own_threads() -> bool:
    """
    Returns whether the number of torch's threads can be set for one thread alone. In contrast,
    `torch.set_num_threads` also sets it for threads that start later.

    It can be set on Linux, if torch uses the library of OpenMP that this process finds first.
    """
    import torch

    if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "omp_set_num_threads"):
        return False
    one_more = torch.get_num_threads() + 1
    with _own_torch_threads(one_more):
        return torch.get_num_threads() == one_more


@contextmanager
def _own_torch_threads(number: int) -> Iterator[None]:
    """Makes torch compute with `number` threads in this thread, within the block."""
    import torch

    openmp = ctypes.CDLL(None)  # finds functions in all libraries of this process
    # This call must be the first one: in a new thread, it sets the number to torch's default.
    before = torch.get_num_threads()
    try:
        openmp.omp_set_num_threads(number)
        yield
    finally:
        openmp.omp_set_num_threads(before)


def get_device(name: "str | int | torch.device") -> "torch.device":
    """
    Returns a device of torch by its name; "cuda" is the first GPU. Raises `BiLmError` if no device
    can have this name, or this machine does not have the GPU.
    """
    import torch

    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise BiLmError(f'device: expected "cpu", "cuda" or "cuda:N", got {name!r:.60}') from None
    if device.type != "cuda":
        return device
    number = device.index
    if number is None:  # the name was "cuda"
        number = 0
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
    Makes the process return freed blocks of a megabyte or more to the system at once. From now on,
    glibc gets each such block by a separate `mmap`.
    """
    _set_malloc_options({_MMAP_THRESHOLD: 2**20})


def keep_freed_memory() -> None:
    """Keeps freed memory for the next arrays: training on a CPU takes a tenth less time."""
    largest_size = 2**31 - 1  # that an option can be set to
    _set_malloc_options({_TRIM_THRESHOLD: largest_size, _TOP_PAD: 2**26, _MMAP_THRESHOLD: 2**30})


def _set_malloc_options(options: dict[int, int]) -> None:
    """
    Sets options of glibc's `malloc` to sizes in bytes. Does nothing if the process has another C
    library.
    """
    if sys.platform != "linux":
        return
    libraries: Any = ctypes.CDLL(None)  # finds functions in all libraries of this process
    has_glibc = hasattr(libraries, "gnu_get_libc_version")
    if has_glibc:
        for option, size in options.items():
            libraries.mallopt(option, size)
