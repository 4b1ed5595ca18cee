"""The point-wise part of one LSTM time step, in plain torch: in place, in few passes over memory."""

from collections.abc import Sequence

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import clip_


def lstm_pointwise(gates: Tensor, cell: Tensor, cell_clip: float | None) -> Tensor:
    """
    Computes the new cell, in place, and returns what the projection takes:

        c = clip(sigmoid(f) * c + sigmoid(i) * tanh(j))
        sigmoid(o) * tanh(c)

    One sigmoid suffices for all four gates, since tanh(x) = 2 sigmoid(2x) - 1 = 1 - 2 sigmoid(-2x); on a CPU
    it is faster than a tanh, too. All is computed in the type of the cell.

    # Parameters

    gates : `Tensor`
        Shape (..., rows, 4 * dim), in the order i, 2j, f, o: j comes doubled, and f with its bias. What it
        holds afterwards has no meaning.
    cell : `Tensor`
        Shape (..., rows, dim), float32 or float64; it gets the new values. It may be a view.
    cell_clip : `float | None`
        The bound of the cell's absolute values.

    # Returns

    `Tensor`
        Shape (..., rows, dim), of the type of `gates`.
    """
    parts = gates.to(cell.dtype).sigmoid_().chunk(4, dim=-1)
    return _update(parts, cell, cell_clip, torch.empty_like(cell)).to(gates.dtype)


class InPlacePointwise:
    """
    `lstm_pointwise` for arrays so small that starting an operation takes longer than its arithmetic: memory
    and views are made once for many time steps.

    The caller fills `gates`, which is of the type of the cell.

    # Parameters

    cell : `Tensor`
        Shape (..., rows, dim). It gets the new values.
    cell_clip : `float | None`
        The bound of the cell's absolute values.
    """

    def __init__(self, cell: Tensor, cell_clip: float | None) -> None:
        self.gates = cell.new_empty(*cell.shape[:-1], 4 * cell.size(-1))
        self._parts = self.gates.chunk(4, dim=-1)
        self._cell, self._cell_clip = cell, cell_clip
        self._activated = torch.empty_like(cell)

    def __call__(self) -> Tensor:
        """Returns what the projection takes, shape (..., rows, dim); the next call overwrites it."""
        self.gates.sigmoid_()
        return _update(self._parts, self._cell, self._cell_clip, self._activated)


def _update(parts: Sequence[Tensor], cell: Tensor, cell_clip: float | None, out: Tensor) -> Tensor:
    """Updates the cell from the sigmoids of i, 2j, f and o, and writes what the projection takes to `out`."""
    i, j, f, o = parts
    clip_(cell.mul_(f).addcmul_(i, j, value=2).sub_(i), cell_clip)
    torch.mul(cell, -2, out=out).sigmoid_()
    return torch.addcmul(o, o, out, value=-2, out=out)
