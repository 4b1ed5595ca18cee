"""How the C library hands out memory."""

import ctypes
import sys

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc's malloc.h
_LARGE = 2**20  # bytes


def keep_large_blocks_apart() -> None:
    """
    Large blocks of memory come from the system and go back to it, for the rest of the process. By default
    glibc puts blocks of up to 32 MB among the small ones once it has seen such a block freed; the tensors of
    batches, which are of many sizes, then leave holes between small blocks that stay, and a process that
    embeds for hours grows and grows. Does nothing where the C library is another one.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_MMAP_THRESHOLD, _LARGE)
