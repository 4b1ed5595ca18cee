"""
The matrix products of the recurrences. Under autocast, their factors and results are rounded to autocast's
type, which a CPU with bfloat16 instructions computes twice as fast; gates, cells and sums stay in the type of
the parameters.
"""

import torch
from torch import Tensor

from elmo_plugin.bilm import multiply


def product(left: Tensor, right: Tensor, dtype: torch.dtype) -> Tensor:
    """
    Returns `left @ right` in the type of `left`.

    # Parameters

    left, right : `Tensor`
        Two matrices, or two batches of as many matrices.
    dtype : `torch.dtype`
        The type in which it is computed.
    """
    return multiply(left.to(dtype), right.to(dtype)).to(left.dtype)


def add_product_(sums: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """
    Adds `left @ right` to `sums` in place, and returns `sums`.

    # Parameters

    sums, left : `Tensor`
        Two matrices, or two batches of as many matrices, of the same type.
    right : `Tensor`
        Likewise, of the type in which the product is computed.
    """
    if right.dtype != sums.dtype:
        return sums.add_(torch.matmul(left.to(right.dtype), right))
    return sums.addmm_(left, right) if sums.dim() == 2 else sums.baddbmm_(left, right)
