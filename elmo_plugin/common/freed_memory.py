"""Memory that was freed, and that the C library still holds."""

import ctypes
import sys


def give_back_freed_memory() -> None:
    """
    Gives freed memory back to the system, where the C library is one that can (glibc, `malloc_trim`).

    It keeps the gaps between the blocks that are in use. Tensors of many sizes that come and go, as those of
    sentences do, leave gaps of hundreds of megabytes. To take memory again costs time, so this is for the end
    of larger steps.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
