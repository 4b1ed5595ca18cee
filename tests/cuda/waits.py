"""How often a program waits for the GPU."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def counted_waits(device: str) -> Iterator[list[str]]:
    """Yields a list to which, at the end, each wait adds where it was; a CPU has none."""
    waits: list[str] = []
    if device == "cpu":
        yield waits
        return
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield waits
    finally:
        torch.cuda.set_sync_debug_mode("default")
    waits += [
        f"{warning.filename}:{warning.lineno}"
        for warning in caught
        if "synchroniz" in str(warning.message)
    ]
