"""Layers of a biLM whose parameters have the names, the shapes and the values of AllenNLP's."""

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import LstmOptions
from elmo_plugin.bilm.io import bias_from_allennlp, split_highway, swap_gates
from elmo_plugin.bilm.lstm import LstmLayer, LstmWeights


class LstmCell(LstmLayer):
    """
    The parameters of AllenNLP's `LstmCellWithProjection`.

    # Parameters

    input_dim, options
        See `LstmLayer`.
    """

    def __init__(self, input_dim: int, options: LstmOptions) -> None:
        super().__init__(input_dim, options)
        self.input_linearity = nn.Linear(input_dim, 4 * options.dim, bias=False)
        self.state_linearity = nn.Linear(options.projection_dim, 4 * options.dim)
        self.state_projection = nn.Linear(options.dim, options.projection_dim, bias=False)

    @property
    def weights(self) -> LstmWeights:
        return LstmWeights(
            swap_gates(self.input_linearity.weight),
            swap_gates(self.state_linearity.weight),
            bias_from_allennlp(self.state_linearity.bias),
            self.state_projection.weight,
        )


class HighwayLayer(nn.Linear):
    """
    The parameters of a layer of AllenNLP's `Highway`, and what our `Highway` does.

    # Parameters

    dim : `int`
        The size of input and output.
    """

    def __init__(self, dim: int) -> None:
        super().__init__(dim, 2 * dim)

    def forward(self, inputs: Tensor) -> Tensor:
        transformed, carried = super().forward(inputs).to(inputs.dtype).chunk(2, dim=-1)
        return torch.lerp(torch.relu(transformed), inputs, torch.sigmoid(carried))

    def joined_weights(self) -> tuple[Tensor, Tensor]:
        """Returns what our `Highway` gives."""
        weight, bias = (torch.cat(split_highway(joined)) for joined in (self.weight, self.bias))
        return weight, bias
