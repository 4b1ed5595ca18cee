"""The parameters of an LSTM layer with a projected, clipped state, and what it is to run one."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.kept import Kept
from elmo_plugin.bilm.options import LstmOptions

FORGET_BIAS = 1.0  # added to the forget gate at run time; not part of the weights


class LstmState(NamedTuple):
    """
    What one direction remembers between two calls.

    hidden: (layers, batch, projection_dim), or without the first dimension the state of one layer
    cell: (layers, batch, dim), likewise
    """

    hidden: Tensor
    cell: Tensor


class ProjectedLstmLayer(nn.Module):
    """
    The parameters of an LSTM whose hidden state is a clipped projection of its clipped cell (Sak et al.,
    2014):

        i, j, f, o = W x_t + R h_{t-1} + b
        c_t = clip(sigmoid(f + 1) * c_{t-1} + sigmoid(i) * tanh(j))
        h_t = clip(P (sigmoid(o) * tanh(c_t)))

    The gates lie in the order of the published files: input i, new j, forget f, output o.

    # Parameters

    input_dim : `int`
        The size of the input vectors.
    options : `LstmOptions`
        The number of cells, the size of the projection, and the clips.
    """

    def __init__(self, input_dim: int, options: LstmOptions) -> None:
        super().__init__()
        self.cell_clip = options.cell_clip
        self.proj_clip = options.proj_clip
        self.input_weight = nn.Parameter(torch.empty(4 * options.dim, input_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(4 * options.dim, options.projection_dim))
        self.bias = nn.Parameter(torch.zeros(4 * options.dim))
        self.projection_weight = nn.Parameter(torch.empty(options.projection_dim, options.dim))
        self.laid_out: Kept[Any] = Kept()  # the weights as the recurrence for inference wants them
        self._initialize()

    def _initialize(self) -> None:
        """Glorot's uniform distribution, over the input and recurrent weights as the one matrix they are."""
        gates, input_dim = self.input_weight.shape
        bound = (6 / (gates + input_dim + self.recurrent_weight.size(1))) ** 0.5
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.recurrent_weight, -bound, bound)
        nn.init.xavier_uniform_(self.projection_weight)

    @property
    def weights(self) -> tuple[Tensor, ...]:
        """What `parameters()` gives, in less time."""
        return self.input_weight, self.recurrent_weight, self.bias, self.projection_weight

    @torch.no_grad()
    def folded(self) -> tuple[Tensor, Tensor, Tensor]:
        """
        Input weight, recurrent weight and bias, changed so that the gates are what `lstm_pointwise` expects:
        with the forget bias, and with twice the new values.
        """
        dim = self.projection_weight.size(1)
        input_weight, recurrent_weight, bias = (
            tensor.clone() for tensor in (self.input_weight, self.recurrent_weight, self.bias)
        )
        bias[2 * dim : 3 * dim] += FORGET_BIAS
        for tensor in (input_weight, recurrent_weight, bias):
            tensor[dim : 2 * dim] *= 2
        return input_weight, recurrent_weight, bias

    def _apply(self, *args: Any, **kwargs: Any) -> "ProjectedLstmLayer":
        """What `.to()` and its like call: the parameters move."""
        self.laid_out.forget()
        return super()._apply(*args, **kwargs)


Recurrence = Callable[
    [Sequence[ProjectedLstmLayer], Sequence[Tensor], Sequence[int], Sequence[LstmState]],
    tuple[list[Tensor], list[LstmState]],
]
"""
Runs one layer of each given direction over packed rows. All directions have the same `batch_sizes`.

# Parameters

layers : `Sequence[ProjectedLstmLayer]`
    One layer per direction.
inputs : `Sequence[Tensor]`
    Per direction, shape (rows, input_dim), packed (see `packing.py`).
batch_sizes : `Sequence[int]`
    The number of rows of each time step, never increasing.
states : `Sequence[LstmState]`
    Per direction, the state of each sentence before its first time step, in packed order. There may be
    more sentences than the first time step has: those keep their state.

# Returns

`list[Tensor]`
    Per direction, shape (rows, projection_dim).
`list[LstmState]`
    Per direction, each sentence's state after its last time step.
"""


def each_by_itself(
    run: Callable[[ProjectedLstmLayer, Tensor, Sequence[int], LstmState], tuple[Tensor, LstmState]],
) -> Recurrence:
    """The `Recurrence` that runs one direction after the other, by a function for one."""

    def run_all(
        layers: Sequence[ProjectedLstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        states: Sequence[LstmState],
    ) -> tuple[list[Tensor], list[LstmState]]:
        directions = zip(layers, inputs, states, strict=True)
        results = [run(layer, rows, batch_sizes, state) for layer, rows, state in directions]
        return [output for output, _ in results], [end for _, end in results]

    return run_all


def clip(values: Tensor, bound: float | None) -> Tensor:
    return values.clamp(-bound, bound) if bound else values


def clip_(values: Tensor, bound: float | None) -> Tensor:
    """`clip` in place."""
    return values.clamp_(-bound, bound) if bound else values
