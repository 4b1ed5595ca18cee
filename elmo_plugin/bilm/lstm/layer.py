"""The parameters of an LSTM layer with a projected, clipped state."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.options import LstmOptions

FORGET_BIAS = 1.0  # added to the forget gate at run time; not part of the weights


class LstmWeights(NamedTuple):
    """W, R, b and P of `LstmLayer`."""

    input_weight: Tensor
    recurrent_weight: Tensor
    bias: Tensor
    projection_weight: Tensor


class LstmLayer(nn.Module):
    """
    An LSTM whose hidden state is a clipped projection of its clipped cell (Sak et al., 2014):

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
        # As floats, since torch takes no larger whole number than 64 bits hold.
        self.cell_clip = None if options.cell_clip is None else float(options.cell_clip)
        self.proj_clip = None if options.proj_clip is None else float(options.proj_clip)
        self.input_weight = nn.Parameter(torch.empty(4 * options.dim, input_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(4 * options.dim, options.projection_dim))
        self.bias = nn.Parameter(torch.zeros(4 * options.dim))
        self.projection_weight = nn.Parameter(torch.empty(options.projection_dim, options.dim))
        # Glorot's uniform distribution, in which input and recurrent weights are one matrix.
        bound = (6 / (4 * options.dim + input_dim + options.projection_dim)) ** 0.5
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.recurrent_weight, -bound, bound)
        nn.init.xavier_uniform_(self.projection_weight)

    @property
    def weights(self) -> LstmWeights:
        """Returns the weights, with gradients where the parameters ask for them."""
        return LstmWeights(self.input_weight, self.recurrent_weight, self.bias, self.projection_weight)

    @torch.no_grad()
    def fused_weights(self) -> LstmWeights:
        """
        Returns the weights with the gates that `lstm_pointwise` expects: with the forget bias, and with twice
        the new values. The projection is unchanged.
        """
        *gates, projection_weight = self.weights
        dim = projection_weight.size(1)
        input_weight, recurrent_weight, bias = (tensor.clone() for tensor in gates)
        bias[2 * dim : 3 * dim] += FORGET_BIAS
        for tensor in (input_weight, recurrent_weight, bias):
            tensor[dim : 2 * dim] *= 2
        return LstmWeights(input_weight, recurrent_weight, bias, projection_weight)


def lstm_step(
    gates: Tensor, cell: Tensor, projection_weight: Tensor, layer: LstmLayer
) -> tuple[Tensor, Tensor]:
    """
    Computes one time step by the formulas of `LstmLayer`, with the layer's clips.

    # Parameters

    gates : `Tensor`
        `W x_t + R h_{t-1} + b`, shape (rows, 4 * dim).
    cell : `Tensor`
        `c_{t-1}`, shape (rows, dim).
    projection_weight : `Tensor`
        `P`.
    layer : `LstmLayer`
        The clips.

    # Returns

    `tuple[Tensor, Tensor]`
        `h_t` and `c_t`.
    """
    input_gate, new, forget_gate, output_gate = gates.chunk(4, dim=1)
    cell = torch.sigmoid(forget_gate + FORGET_BIAS) * cell + torch.sigmoid(input_gate) * torch.tanh(new)
    cell = clip(cell, layer.cell_clip)
    hidden = (torch.sigmoid(output_gate) * torch.tanh(cell)) @ projection_weight.t()
    return clip(hidden, layer.proj_clip), cell


def clip(values: Tensor, bound: float | None) -> Tensor:
    """Bounds the absolute values; `None` or 0 for no bound."""
    return values.clamp(-bound, bound) if bound else values


def clip_(values: Tensor, bound: float | None) -> Tensor:
    """Bounds the absolute values in place, see `clip`."""
    return values.clamp_(-bound, bound) if bound else values
