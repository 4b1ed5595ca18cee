"""An LSTM layer with a projected, clipped state: its parameters and its formulas."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.bilm.options import LstmOptions
from elmo_plugin.bilm.precision import Precision

FORGET_BIAS = 1.0  # added to the forget gate at run time; not part of the weights


class LstmWeights(NamedTuple):
    """W, R, b and P of an `LstmLayer`; or of the layers of several directions, stacked."""

    input_weight: Tensor
    recurrent_weight: Tensor
    bias: Tensor
    projection_weight: Tensor

    @torch.no_grad()
    def with_folded_constants(self) -> "LstmWeights":
        """
        Returns copies of the weights, into which two constants of the formulas are folded. The
        forget bias is added to the bias. The rows of the gate j are doubled, so that a sigmoid can
        compute the tanh of this gate: tanh(x) = 2 sigmoid(2x) - 1. The projection is not copied.
        """
        bias = double_candidate_gate(self.bias, gates_dim=-1)
        _, _, forget_gate_bias, _ = bias.chunk(4, dim=-1)
        forget_gate_bias.add_(FORGET_BIAS)
        return LstmWeights(
            input_weight=double_candidate_gate(self.input_weight, gates_dim=-2),
            recurrent_weight=double_candidate_gate(self.recurrent_weight, gates_dim=-2),
            bias=bias,
            projection_weight=self.projection_weight,
        )


def double_candidate_gate(tensor: Tensor, gates_dim: int) -> Tensor:
    """
    Returns a copy in which the values of the gate j, the second of the four gates, are doubled.
    `gates_dim` is the dimension that has the gates.
    """
    doubled = tensor.clone()
    _, candidate, _, _ = doubled.chunk(4, dim=gates_dim)
    candidate.mul_(2)
    return doubled


class LstmLayer(nn.Module):
    """
    An LSTM whose hidden state is a clipped projection of its clipped cell (Sak et al., 2014):

        i, j, f, o = W x_t + R h_{t-1} + b
        c_t = clip(sigmoid(f + 1) * c_{t-1} + sigmoid(i) * tanh(j))
        h_t = clip(P (sigmoid(o) * tanh(c_t)))

    The gates are in the order of the published files: input i, new j, forget f, output o.
    """

    def __init__(self, input_dim: int, options: LstmOptions) -> None:
        super().__init__()
        self.cell_clip = _clip_bound(options.cell_clip)
        self.proj_clip = _clip_bound(options.proj_clip)
        self.input_weight = nn.Parameter(torch.empty(4 * options.dim, input_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(4 * options.dim, options.projection_dim))
        self.bias = nn.Parameter(torch.zeros(4 * options.dim))
        self.projection_weight = nn.Parameter(torch.empty(options.projection_dim, options.dim))
        # Glorot's uniform distribution, as if the input and the recurrent weight were one matrix.
        bound = (6 / (4 * options.dim + input_dim + options.projection_dim)) ** 0.5
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.recurrent_weight, -bound, bound)
        nn.init.xavier_uniform_(self.projection_weight)

    @property
    def weights(self) -> LstmWeights:
        """The parameters themselves."""
        return LstmWeights(
            self.input_weight, self.recurrent_weight, self.bias, self.projection_weight
        )


def _clip_bound(option: float | None) -> float:
    """Returns the bound that an option asks for: infinity for `None` and 0, and always a float."""
    if option is None or option == 0:
        return math.inf
    # Options may be large integers, but torch refuses integers of more than 64 bits.
    return float(option)


# The rows of each direction, shape (rows, projection_dim), and the final state, if it is needed.
LayerOutput = tuple[list[Tensor], LstmState | None]
Packed = TypeVar("Packed")


class Recurrence(Protocol[Packed]):
    """
    A way to run one layer of all directions over packed rows.

    has_gradients: whether it computes gradients; it then multiplies in float32 only
    """

    has_gradients: bool

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> Packed:
        """Prepares the layers of all directions for `run`."""
        ...

    def run(
        self,
        packed: Packed,
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        state: LstmState,
        keep_state: bool,
    ) -> LayerOutput:
        """
        Runs the layers that `pack` prepared, beginning with `state`. `inputs` are the rows of each
        direction in the order of `Packing`, shape (rows, input_dim). Returns the final state if
        `keep_state`.
        """
        ...
