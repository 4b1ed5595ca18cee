"""One time step of one layer: its part from the inputs, and what the device and the sizes ask for."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import clip_
from elmo_plugin.bilm.lstm.pointwise import SmallPointwise, lstm_pointwise
from elmo_plugin.bilm.lstm.triton_pointwise import triton_is_available, triton_lstm_pointwise
from elmo_plugin.bilm.packing import split_by_rows
from elmo_plugin.bilm.precision import to_integers

MAX_PROJECTED_ROWS = 512  # of a direction: their gates take 32 MiB with 4096 cells in float32


class Step(Protocol):
    """A time step of a fixed number of rows. It remembers the hidden state; the cell changes in place."""

    def __call__(self, gates: Tensor, output: Tensor) -> None:
        """
        # Parameters

        gates : `Tensor`
            Shape (directions, rows, 4 * dim), their part that comes from the inputs. It may be overwritten.
        output : `Tensor`
            Shape (directions, rows, projection_dim). It gets the new hidden state.
        """


class Weights(Protocol):
    """A layer of each direction, laid out for one kind of `Step`."""

    def step(self, hidden: Tensor, cell: Tensor) -> Step:
        """
        Begins with this state: hidden (directions, rows, projection_dim) and cell (directions, rows, dim),
        which are views of the state of all rows.
        """


def input_gates(project: Callable[[int, int], Tensor], batch_sizes: Sequence[int]) -> Iterator[Tensor]:
    """
    For each time step the part of the gates that comes from the inputs, shape (..., rows, 4 * dim). `project`
    gives it for the packed rows from one number to another: one product makes many time steps.
    """
    start = 0
    for sizes in split_by_rows(batch_sizes, MAX_PROJECTED_ROWS):
        stop = start + sum(sizes)
        yield from project(start, stop).split(sizes, dim=-2)
        start = stop


class Directions(NamedTuple):
    """
    A layer of each direction, of the same sizes and clips.

    recurrent: for each direction, shape (4 * dim, projection_dim), folded as `lstm_pointwise` wants it
    projection: for each direction, shape (projection_dim, dim)
    """

    recurrent: Sequence[Tensor]
    projection: Sequence[Tensor]
    cell_clip: float | None
    proj_clip: float | None


class BatchedWeights:
    """
    Weights side by side, for one batched product.

    # Parameters

    layers : `Directions`
        The weights to lay out.
    dtype : `torch.dtype`
        In which the products are.
    """

    def __init__(self, layers: Directions, dtype: torch.dtype) -> None:
        self.recurrent = torch.stack([weight.t() for weight in layers.recurrent]).to(dtype)
        self.projection = torch.stack([weight.t() for weight in layers.projection]).to(dtype)
        self.cell_clip, self.proj_clip = layers.cell_clip, layers.proj_clip

    def step(self, hidden: Tensor, cell: Tensor) -> Step:
        is_small = not cell.is_cuda and self.recurrent.dtype == cell.dtype and not triton_is_available(cell)
        return SmallStep(self, hidden, cell) if is_small else BatchedStep(self, hidden, cell)


class BatchedStep:
    """For a GPU: everything in place, in four kernels."""

    def __init__(self, weights: BatchedWeights, hidden: Tensor, cell: Tensor) -> None:
        self._weights, self._hidden, self._cell = weights, hidden.to(weights.recurrent.dtype), cell
        self._pointwise = triton_lstm_pointwise if triton_is_available(cell) else lstm_pointwise

    def __call__(self, gates: Tensor, output: Tensor) -> None:
        gates.baddbmm_(self._hidden, self._weights.recurrent)
        activated = self._pointwise(gates, self._cell, self._weights.cell_clip)
        torch.bmm(activated, self._weights.projection, out=output)
        self._hidden = clip_(output, self._weights.proj_clip)


class SmallStep:
    """
    For small arrays on a CPU: everything is written to the same memory each time. (There an output with gaps,
    as `BatchedStep` has, would be computed elsewhere first.)
    """

    def __init__(self, weights: BatchedWeights, hidden: Tensor, cell: Tensor) -> None:
        self._weights, self._hidden = weights, hidden.clone(memory_format=torch.contiguous_format)
        self._pointwise = SmallPointwise(cell, weights.cell_clip)

    def __call__(self, gates: Tensor, output: Tensor) -> None:
        torch.baddbmm(gates, self._hidden, self._weights.recurrent, out=self._pointwise.gates)
        torch.bmm(self._pointwise(), self._weights.projection, out=self._hidden)
        output.copy_(clip_(self._hidden, self._weights.proj_clip))


class Int8Weights:
    """
    8-bit weights for a CPU: the same integers as `Int8Product` has, in a layout that is the fastest for one
    row, with what is done around the products done for all directions at once.

    # Parameters

    layers : `Directions`
        The weights to lay out.
    """

    def __init__(self, layers: Directions) -> None:
        self.recurrent, self.recurrent_scales = _integers(layers.recurrent)
        self.projection, self.projection_scales = _integers(layers.projection)
        self.cell_clip, self.proj_clip = layers.cell_clip, layers.proj_clip

    def step(self, hidden: Tensor, cell: Tensor) -> Step:
        return Int8Step(self, hidden, cell)


class Int8Step:
    """For 8-bit weights."""

    def __init__(self, weights: Int8Weights, hidden: Tensor, cell: Tensor) -> None:
        self._weights, self._hidden = weights, hidden
        self._pointwise = SmallPointwise(cell, weights.cell_clip)

    def __call__(self, gates: Tensor, output: Tensor) -> None:
        weights = self._weights
        scaled, steps = _multiply(self._hidden, weights.recurrent, weights.recurrent_scales)
        torch.addcmul(gates, scaled, steps, out=self._pointwise.gates)
        scaled, steps = _multiply(self._pointwise(), weights.projection, weights.projection_scales)
        self._hidden = clip_(scaled.mul_(steps), weights.proj_clip)
        output.copy_(self._hidden)


def _integers(weights: Sequence[Tensor]) -> tuple[list[Tensor], Tensor]:
    """The transposed weights in 8 bits, and their scales, shape (directions, 1, outputs)."""
    integers, steps = zip(*map(to_integers, weights), strict=True)
    return [whole.to(torch.int8).t() for whole in integers], torch.stack(steps).transpose(1, 2)


def _multiply(inputs: Tensor, integers: Sequence[Tensor], scales: Tensor) -> tuple[Tensor, Tensor]:
    """The products by the steps of the inputs, shape (directions, rows, outputs), and these steps."""
    whole, steps = to_integers(inputs)
    sums = whole.new_empty(*whole.shape[:2], scales.size(2), dtype=torch.int32)
    for rows, weight, out in zip(whole.to(torch.int8), integers, sums, strict=True):
        torch._int_mm(rows, weight, out=out)
    return torch.mul(sums, scales), steps
