"""LSTM layers with a projected state, clipped: one direction of the biLM, from the first word to the last.

The backward language model is the same recurrence over reversed sentences; `bilm.py` reverses them.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.options import LstmOptions

FORGET_BIAS = 1.0  # added to the forget gate at run time; not part of the weights


class LstmState(NamedTuple):
    """
    What one direction remembers between two calls.

    hidden: (layers, batch, projection_dim)
    cell: (layers, batch, dim)
    """

    hidden: Tensor
    cell: Tensor


class ProjectedLstmLayer(nn.Module):
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
        self.cell_clip = options.cell_clip
        self.proj_clip = options.proj_clip
        self.input_weight = nn.Parameter(torch.empty(4 * options.dim, input_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(4 * options.dim, options.projection_dim))
        self.bias = nn.Parameter(torch.zeros(4 * options.dim))
        self.projection_weight = nn.Parameter(torch.empty(options.projection_dim, options.dim))
        self._initialize()

    def _initialize(self) -> None:
        """Glorot's uniform distribution, over the input and recurrent weights as the one matrix they are."""
        gates, input_dim = self.input_weight.shape
        bound = (6 / (gates + input_dim + self.recurrent_weight.size(1))) ** 0.5
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.recurrent_weight, -bound, bound)
        nn.init.xavier_uniform_(self.projection_weight)

    def forward(self, inputs: Tensor, lengths: Tensor | None, state: LstmState) -> tuple[Tensor, LstmState]:
        """
        # Parameters

        inputs : `Tensor`
            Shape (batch, time, input_dim).
        lengths : `Tensor | None`
            Shape (batch,), how many time steps of each row are to be taken; `None` for all.
        state : `LstmState`
            The state before the first time step, without the dimension of the layers.

        # Returns

        `Tensor`
            Shape (batch, time, projection_dim); what lies beyond a row's length has no meaning.
        `LstmState`
            The state after each row's last time step.
        """
        hidden, cell = state
        input_gates = nn.functional.linear(inputs, self.input_weight, self.bias)
        outputs = []
        for time, gates in enumerate(input_gates.unbind(dim=1)):
            new_hidden, new_cell = self._step(gates, hidden, cell)
            if lengths is None:
                hidden, cell = new_hidden, new_cell
            else:
                goes_on = (time < lengths).unsqueeze(1)
                hidden = torch.where(goes_on, new_hidden, hidden)
                cell = torch.where(goes_on, new_cell, cell)
            outputs.append(hidden)
        if not outputs:
            return inputs.new_zeros(*inputs.shape[:2], hidden.size(-1)), state
        return torch.stack(outputs, dim=1), LstmState(hidden, cell)

    def _step(self, input_gates: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        gates = torch.addmm(input_gates, hidden, self.recurrent_weight.t())
        input_gate, new, forget_gate, output_gate = gates.chunk(4, dim=1)
        cell = torch.sigmoid(forget_gate + FORGET_BIAS) * cell + torch.sigmoid(input_gate) * torch.tanh(new)
        cell = _clip(cell, self.cell_clip)
        hidden = (torch.sigmoid(output_gate) * torch.tanh(cell)) @ self.projection_weight.t()
        return _clip(hidden, self.proj_clip), cell


class DirectionalLm(nn.Module):
    """
    The layers of one direction.

    # Parameters

    options : `LstmOptions`
        Sizes and clips.
    dropout : `float`
        In training, the rate of dropout on the input of every layer and on the output of the last. A skip
        connection adds the layer's input as dropout left it.
    """

    def __init__(self, options: LstmOptions, dropout: float = 0.0) -> None:
        super().__init__()
        self.options = options
        self.layers = nn.ModuleList(
            ProjectedLstmLayer(options.projection_dim, options) for _ in range(options.n_layers)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, state: LstmState | None = None
    ) -> tuple[list[Tensor], LstmState]:
        """
        # Parameters

        inputs : `Tensor`
            Shape (batch, time, projection_dim).
        lengths : `Tensor | None`
            Shape (batch,), the number of time steps of each row; `None` for all.
        state : `LstmState | None`
            The state to start from; `None` for zeros.

        # Returns

        `list[Tensor]`
            The output of each layer, shape (batch, time, projection_dim).
        `LstmState`
            The state after the last time step of each row.
        """
        if state is None:
            state = self.zero_state(inputs)
        outputs, hidden, cell = [], [], []
        for number, layer in enumerate(self.layers):
            inputs = self.dropout(inputs)
            output, layer_state = layer(inputs, lengths, LstmState(state.hidden[number], state.cell[number]))
            if number > 0 and self.options.use_skip_connections:
                output = output + inputs
            hidden.append(layer_state.hidden)
            cell.append(layer_state.cell)
            outputs.append(output)
            inputs = output
        outputs[-1] = self.dropout(outputs[-1])
        return outputs, LstmState(torch.stack(hidden), torch.stack(cell))

    def zero_state(self, inputs: Tensor) -> LstmState:
        """Zeros for as many rows as `inputs` has, of its type and on its device."""
        options, rows = self.options, inputs.size(0)
        return LstmState(
            inputs.new_zeros(options.n_layers, rows, options.projection_dim),
            inputs.new_zeros(options.n_layers, rows, options.dim),
        )


def _clip(values: Tensor, bound: float | None) -> Tensor:
    return values.clamp(-bound, bound) if bound else values
