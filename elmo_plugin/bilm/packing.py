"""Sentences of different lengths as rows without padding, in the order in which an LSTM takes them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Packing(NamedTuple):
    """
    The tokens of a batch, time step by time step; within a step the longer sentences come first, so that
    the sentences that continue are always the first ones (as in torch's `PackedSequence`).

    batch_sizes: how many sentences each time step has, never more than the one before
    sentences: (batch,), the sentences in order of decreasing length
    sentence: (rows,), the sentence that each row belongs to
    time: (rows,), and its time step
    """

    batch_sizes: list[int]
    sentences: Tensor
    sentence: Tensor
    time: Tensor


def pack(lengths: Tensor, device: torch.device | None = None) -> Packing:
    """
    Waits for a GPU once if the lengths are there, and not at all if they are on the CPU.

    # Parameters

    lengths : `Tensor`
        Shape (batch,), the number of tokens of each sentence; some may be zero.
    device : `torch.device | None`, optional (default = `None`)
        Where the result is needed, if not where the lengths are.
    """
    device = device or lengths.device
    ordered, sentences = lengths.cpu().sort(descending=True, stable=True)
    steps = torch.arange(int(ordered[0]) if len(ordered) else 0)
    goes_on = steps[:, None] < ordered  # Shape: (time, batch)
    time, place = goes_on.nonzero(as_tuple=True)
    on_device = (part.to(device, non_blocking=True) for part in (sentences, sentences[place], time))
    return Packing(goes_on.sum(dim=1).tolist(), *on_device)


def rows_in_reverse(packing: Packing, lengths: Tensor) -> Tensor:
    """Returns for each row that of the word at the same distance from the other end of its sentence."""
    sizes = torch.tensor(packing.batch_sizes, dtype=torch.long).to(lengths.device, non_blocking=True)
    starts = sizes.cumsum(dim=0) - sizes
    place = torch.arange(len(packing.time), device=lengths.device) - starts[packing.time]
    return starts[lengths[packing.sentence] - 1 - packing.time] + place


def rows_before(rows: Tensor, batch_sizes: Sequence[int], first: Tensor | None = None) -> Tensor:
    """
    Returns, for each row, the row of the same sentence one time step earlier. Shape (..., rows, dim), as that
    of `rows`.

    # Parameters

    first : `Tensor | None`, optional (default = `None`)
        The rows before the first time step, shape (..., sentences, dim); `None` for zeros.
    """
    if not batch_sizes:
        return rows
    steps = rows.split(list(batch_sizes), dim=-2)
    earlier = [step[..., :size, :] for step, size in zip(steps, batch_sizes[1:], strict=False)]
    first = torch.zeros_like(steps[0]) if first is None else first[..., : batch_sizes[0], :]
    return torch.cat([first, *earlier], dim=-2)


def last_rows(rows: Tensor, batch_sizes: Sequence[int], first: Tensor) -> Tensor:
    """
    Returns, for each sentence, its last row; that of `first`, shape (..., sentences, dim), where it has none.
    """
    last = first.clone()
    steps = rows.split(list(batch_sizes), dim=-2)
    for step, size, following in zip(steps, batch_sizes, [*batch_sizes[1:], 0], strict=False):
        if following < size:
            last[..., following:size, :] = step[..., following:size, :]
    return last


def split_by_tokens(lengths: list[int], max_tokens: float) -> list[slice]:
    """
    Cuts a batch into runs of sentences that hold, with padding to their longest, at most `max_tokens` tokens;
    a sentence with more is a run of its own.
    """
    runs, start, longest = [], 0, 0
    for stop, length in enumerate(lengths):
        longest = max(longest, length)
        if stop > start and longest * (stop - start + 1) > max_tokens:
            runs.append(slice(start, stop))
            start, longest = stop, length
    return [*runs, slice(start, len(lengths))] if lengths else []


def split_by_rows(batch_sizes: Sequence[int], max_rows: int) -> Iterator[list[int]]:
    """Cuts the time steps into runs of at most `max_rows` rows, and of at least one time step."""
    run: list[int] = []
    rows = 0
    for size in batch_sizes:
        if run and rows + size > max_rows:
            yield run
            run, rows = [], 0
        run.append(size)
        rows += size
    if run:
        yield run
