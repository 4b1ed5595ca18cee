"""What the C library does with freed memory, where it is glibc. Elsewhere these functions do nothing.

By default glibc keeps freed blocks of up to 32 MB for later ones. The tensors of batches, which are of many
sizes, then leave gaps between small blocks: a process that embeds for hours grows by hundreds of megabytes.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # parameters of glibc's mallopt, of its malloc.h


def give_back_freed_memory() -> None:
    """
    Gives freed memory back to the system once. Taking it again costs time, so call it after larger steps. It
    costs less time than `keep_large_blocks_apart`, and lets the memory grow in between.
    """
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


def keep_large_blocks_apart() -> None:
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
    if (library := _glibc()) is not None:
        for option, size in options.items():
            library.mallopt(option, size)


def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "gnu_get_libc_version") else None
