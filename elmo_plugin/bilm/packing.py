"""The tokens of a batch in the order in which an LSTM reads them, without padding."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

# The most rows of a direction that are projected at once. With 4096 cells their gates take 32 MiB
# in float32.
MAX_PROJECTED_ROWS = 512


class Packing(NamedTuple):
    """
    The tokens of a batch without its padding, as an LSTM reads them: a row for each token, time
    step by time step (as in torch's `PackedSequence`). Within a step the longer sentences come
    first, so that the sentences that continue are always the first ones. For example, the sentences
    "No" (0), "The play ended" (1) and "It rained" (2) have six rows in three time steps:

        rows             The  It  No  play  rained  ended
        sentence_of_row  1    2   0   1     2       1
        time_of_row      0    0   0   1     1       2
        batch_sizes      3            2             1
        longest_first    1    2   0

    batch_sizes: the number of sentences of each time step, never increasing
    longest_first: (batch,), the sentences in order of decreasing length
    sentence_of_row: (rows,), the sentence that the token of each row belongs to
    time_of_row: (rows,), the place of the token in that sentence, from 0
    """

    batch_sizes: list[int]
    longest_first: Tensor
    sentence_of_row: Tensor
    time_of_row: Tensor

    def padded_positions(self, lengths: Tensor, padded_length: int) -> tuple[Tensor, Tensor]:
        """
        Returns where each row is in a padded batch that was flattened to the shape (batch *
        padded_length, ...). The first result is for a direction that reads each sentence from its
        beginning, the second for a direction that reads it from its end.
        """
        starts = self.sentence_of_row * padded_length  # Shape: (rows,)
        ends = starts + lengths[self.sentence_of_row]  # Shape: (rows,)
        forward_places = starts + self.time_of_row
        backward_places = ends - 1 - self.time_of_row
        return forward_places, backward_places


def pack(lengths: Tensor, device: torch.device | None = None) -> Packing:
    """
    Packs sentences, given the number of tokens of each, shape (batch,). A sentence may be empty.
    The result is on `device`, by default the lengths' device. If the lengths are on a GPU, this
    waits for it.
    """
    if device is None:
        device = lengths.device
    sorted_lengths, longest_first = lengths.cpu().sort(descending=True, stable=True)
    longest = 0
    if len(sorted_lengths) > 0:
        longest = int(sorted_lengths[0])
    # Whether each sentence has a token at each time step. Shape: (time, batch); the columns are the
    # sentences, longest first, so a column is the rank of its sentence by length.
    has_token = torch.arange(longest)[:, None] < sorted_lengths
    time_of_row, rank_of_row = has_token.nonzero(as_tuple=True)  # Shapes: (rows,)
    sentence_of_row = longest_first[rank_of_row]
    return Packing(
        batch_sizes=has_token.sum(dim=1).tolist(),
        longest_first=longest_first.to(device, non_blocking=True),
        sentence_of_row=sentence_of_row.to(device, non_blocking=True),
        time_of_row=time_of_row.to(device, non_blocking=True),
    )


def mean_rows_of_a_step(rows: Tensor, batch_sizes: Sequence[int]) -> float:
    """Returns how many of the packed rows a time step has on average; 0 without steps."""
    return len(rows) / max(len(batch_sizes), 1)


def rows_in_reverse(packing: Packing, lengths: Tensor) -> Tensor:
    """Returns the permutation of the rows that reverses each sentence."""
    device = lengths.device
    sizes = torch.tensor(packing.batch_sizes, dtype=torch.long).to(device, non_blocking=True)
    starts = sizes.cumsum(dim=0) - sizes  # the first row of each time step
    rows = torch.arange(len(packing.time_of_row), device=device)
    # A sentence has the same place within all of its time steps.
    place_in_step = rows - starts[packing.time_of_row]
    mirrored_time = lengths[packing.sentence_of_row] - 1 - packing.time_of_row
    return starts[mirrored_time] + place_in_step


def rows_before(rows: Tensor, batch_sizes: Sequence[int], first: Tensor | None = None) -> Tensor:
    """
    Returns, for each row, the row of the same sentence one time step earlier. The result has the
    shape of `rows`, (..., rows, dim). Before its first time step, a sentence has its row of
    `first`, shape (..., sentences, dim), or zeros if `first` is `None`.
    """
    if not batch_sizes:  # no sentence has a token
        return rows
    steps = rows.split(list(batch_sizes), dim=-2)
    if first is None:
        before_first_step = torch.zeros_like(steps[0])
    else:
        before_first_step = first[..., : batch_sizes[0], :]
    before_steps = [before_first_step]
    for step in range(1, len(batch_sizes)):
        # The sentences that continue are the first ones of the step before.
        earlier = steps[step - 1]
        before_steps.append(earlier[..., : batch_sizes[step], :])
    return torch.cat(before_steps, dim=-2)


def last_rows(rows: Tensor, batch_sizes: Sequence[int], first: Tensor) -> Tensor:
    """
    Returns the last of the packed `rows` of each sentence, shape (..., sentences, dim). A sentence
    without rows gets its row of `first`, of the same shape.
    """
    last = first.clone()
    if not batch_sizes:  # no sentence has a row
        return last
    steps = rows.split(list(batch_sizes), dim=-2)
    # The number of sentences that continue after each time step: none after the last one.
    next_sizes = [*batch_sizes[1:], 0]
    for step, size, next_size in zip(steps, batch_sizes, next_sizes, strict=True):
        if next_size < size:  # the sentences from `next_size` on end with this time step
            last[..., next_size:size, :] = step[..., next_size:size, :]
    return last


def input_gates(
    project: Callable[[int, int], Tensor], batch_sizes: Sequence[int]
) -> Iterator[Tensor]:
    """
    Yields, for each time step, what the inputs add to the gates, shape (..., rows, 4 * dim).
    `project` computes it for the packed rows `start:stop`. Each call covers as many time steps as
    fit into `MAX_PROJECTED_ROWS`, because one large product is faster than many small ones.
    """
    ends = list(accumulate(batch_sizes))  # the row after the last one of each time step
    first_row = 0
    first_step = 0
    for step, end in enumerate(ends):
        is_last = step == len(ends) - 1
        if is_last or ends[step + 1] - first_row > MAX_PROJECTED_ROWS:
            sizes = list(batch_sizes[first_step : step + 1])
            yield from project(first_row, end).split(sizes, dim=-2)
            first_row = end
            first_step = step + 1
