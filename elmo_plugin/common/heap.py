"""Memory that was freed, and that the C library still holds: two ways to hold less, where it is glibc."""

import ctypes
import sys

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc's malloc.h
_LARGE = 2**20  # bytes


def give_back_freed_memory() -> None:
    """
    Gives freed memory back to the system, where the C library is one that can (glibc, `malloc_trim`).

    It keeps the gaps between the blocks that are in use. Tensors of many sizes that come and go, as those of
    sentences do, leave gaps of hundreds of megabytes. To take memory again costs time, so this is for the end
    of larger steps. It costs less time than `keep_large_blocks_apart`, and lets the memory grow in between.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def keep_large_blocks_apart() -> None:
    """
    Makes large blocks of memory come from the system and go back to it, for the rest of the process. By
    default glibc puts blocks of up to 32 MB among the small ones once it has seen such a block freed; the
    tensors of batches, which are of many sizes, then leave holes between small blocks that stay. A process
    that had embedded 700,000 words held 956 MB and grew; so it holds 780 and does not. Does nothing where the
    C library is another one.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_MMAP_THRESHOLD, _LARGE)
