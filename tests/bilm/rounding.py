"""How near results in short numbers are to those in long ones."""

from collections.abc import Callable

import torch
from torch import Tensor


def relative_error(value: Tensor, expected: Tensor) -> float:
    return ((value - expected).norm() / expected.norm()).item()


def check_under_autocast(
    compute: Callable[[], tuple[Tensor, ...]], dtype: torch.dtype, tolerance: float
) -> None:
    """What it computes, gradients among it, is rounded float32, but near what it is without."""
    expected = compute()
    with torch.autocast("cpu", dtype):
        rounded = compute()
    assert not all(map(torch.equal, rounded, expected))
    for value, wanted in zip(rounded, expected, strict=True):
        assert value.dtype == torch.float
        assert relative_error(value, wanted) < tolerance
