"""Which rows of an integer matrix are equal: the distinct words of a batch, its distinct sentences."""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor


def unique_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """
    Returns what `torch.unique(rows, dim=0, return_inverse=True)` does, in another order and much faster on a
    CPU: rows are compared by their hashes, and checked.

    # Parameters

    rows : `Tensor`
        Shape (n, k), integers.

    # Returns

    `tuple[Tensor, Tensor]`
        The distinct rows, shape (distinct, k), and for each row which of them it is, shape (n,).
    """
    hashes, group = torch.unique(row_hashes(rows), return_inverse=True)
    distinct = rows[first_of_each(group, len(hashes))]
    if torch.equal(distinct[group], rows):
        return distinct, group
    return torch.unique(rows, dim=0, return_inverse=True)


def encode_unique_rows(rows: Tensor, encode: Callable[[Tensor], Tensor]) -> Tensor:
    """
    Encodes each distinct row once, and gives it to all its occurrences.

    # Parameters

    rows : `Tensor`
        Shape (..., k), integers.
    encode : `Callable[[Tensor], Tensor]`
        Gives vectors of shape (distinct, dim) for the distinct rows, shape (distinct, k).

    # Returns

    `Tensor`
        Shape (..., dim).
    """
    distinct, group = unique_rows(rows.flatten(0, -2))
    vectors = encode(distinct)
    return torch.nn.functional.embedding(group, vectors).view(*rows.shape[:-1], vectors.size(-1))


def row_hashes(rows: Tensor) -> Tensor:
    """
    Hashes each row: equal rows have equal numbers, and others almost surely do not.

    # Parameters

    rows : `Tensor`
        Shape (n, k), integers. Their type does not matter.

    # Returns

    `Tensor`
        Shape (n,), int64.
    """
    return (rows * _multipliers(rows.size(1), rows.device)).sum(dim=1)


def first_of_each(group: Tensor, number: int) -> Tensor:
    """
    Finds where each group occurs for the first time.

    # Parameters

    group : `Tensor`
        Shape (n,), numbers from 0 to `number` - 1, each at least once.

    # Returns

    `Tensor`
        Shape (number,).
    """
    positions = torch.arange(len(group), device=group.device)
    first = torch.full((number,), len(group), device=group.device)
    return first.scatter_reduce_(0, group, positions, "amin")


@lru_cache(maxsize=64)
def _multipliers(number: int, device: torch.device) -> Tensor:
    """Fixed random odd numbers of 64 bits, one for each column."""
    with torch.inference_mode(False):
        generator = torch.Generator().manual_seed(262)
        bounds = torch.iinfo(torch.int64)
        drawn = torch.randint(bounds.min, bounds.max, (number,), generator=generator, dtype=torch.int64)
        return (drawn | 1).to(device)
