"""How near results must be to what is expected: as near as their type and the size of the numbers
allow.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

Nested: TypeAlias = "Tensor | Sequence[Nested] | Mapping[str, Nested]"
ROUNDINGS = 32
"""
Processors add in different orders. A sum of n terms then differs by about sqrt(n) roundings of the size of
its largest terms: by 8 where a small network of these tests adds up 64 products. A few such sums follow one
another, in layers and in time, for which four times 8 leaves room. Up to 9 were found, with AVX-512, AVX2 and
SSE4.1.
"""


def assert_near(actual: Nested, expected: Nested, roundings: float = ROUNDINGS) -> None:
    """
    Checks that tensors differ by roundings alone. Tensors of integers and masks must be equal.

    # Parameters

    actual : `Tensor`
        What was computed; or tensors in tuples, lists or dictionaries, each of which is compared.
    expected : `Tensor`
        What it should be, in the same order and of the same shapes and types, or in float64.
    roundings : `float`, optional (default = `ROUNDINGS`)
        The largest difference, in units of the last place that the largest number of `expected` has
        in the type of `actual`. It is not relative to each number: a sum has the rounding errors of
        its largest terms, however small it is itself.
    """
    if isinstance(expected, Tensor):
        assert isinstance(actual, Tensor) and expected.dtype in (actual.dtype, torch.double)
        bound = 0.0
        if actual.is_floating_point() and expected.numel():
            info = torch.finfo(actual.dtype)  # below `tiny`, the last place is that of `tiny`
            bound = roundings * info.eps * max(expected.detach().abs().max().item(), info.tiny)
        torch.testing.assert_close(actual.to(expected.dtype), expected, rtol=0, atol=bound)
        return
    assert len(actual) == len(expected)
    if isinstance(expected, Mapping):
        assert isinstance(actual, Mapping) and actual.keys() == expected.keys()
        actual, expected = ([each[key] for key in expected] for each in (actual, expected))
    for one, other in zip(actual, expected, strict=True):
        assert_near(one, other, roundings)
