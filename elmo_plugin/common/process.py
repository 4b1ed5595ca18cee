"""
A process: its standard streams, its locks, and what its C library does with freed memory.

The functions for memory need glibc; elsewhere they do nothing. By default glibc keeps freed blocks of up to
32 MB for later ones. The tensors of batches, which are of many sizes, then leave gaps between small blocks: a
process that embeds for hours grows by hundreds of megabytes.
"""

import ctypes
import os
import sys
import threading
from typing import Any

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # parameters of glibc's mallopt, of its malloc.h


def open_missing_streams() -> None:
    """
    Opens the null device in place of each closed standard stream, for which Python has `None`. Otherwise the
    next file that is opened would get the stream's number, and whatever a library prints would go into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # has the lowest number that is free
        if number and getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the process)


class ForkSafeLock:
    """
    A lock for the threads of one process, with `with`. A forked child finds it free, even where a thread that
    the child does not have held it in the parent. What it guards must be valid at any moment.
    """

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}  # by process

    def __enter__(self) -> None:
        self._locks.setdefault(os.getpid(), threading.Lock()).acquire()

    def __exit__(self, *_: object) -> None:
        self._locks[os.getpid()].release()


def use_mmap_for_large_blocks() -> None:
    """
    Takes blocks of a megabyte or more from the system, and gives them back when they are freed, for the rest
    of the process. A process that had embedded 700,000 words held 956 MB and grew; with this it holds 780 and
    does not.
    """
    _set({_MMAP_THRESHOLD: 2**20})


def keep_freed_memory() -> None:
    """
    Keeps all freed memory in the process, for its next arrays: the system would have to fill each page with
    zeros again. Training on a CPU takes a tenth less time, or even less.
    """
    _set({_TRIM_THRESHOLD: 2**31 - 1, _TOP_PAD: 2**26, _MMAP_THRESHOLD: 2**30})


def _set(options: dict[int, int]) -> None:
    library: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(library, "gnu_get_libc_version"):
        for option, size in options.items():
            library.mallopt(option, size)
