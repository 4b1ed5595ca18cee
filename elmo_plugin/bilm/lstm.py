"""The layers of one direction, and the one place that chooses how both directions run.

The backward language model is the same layers over reversed sentences; `BiLm` reverses them.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.autograd import Dropout
from elmo_plugin.bilm.batching import LstmState
from elmo_plugin.bilm.derived import DerivedValues, derive_once
from elmo_plugin.bilm.lstm_cell import LayerOutput, LstmLayer, check_float32
from elmo_plugin.bilm.lstm_frozen import pack_batched, pack_sequential, run_frozen
from elmo_plugin.bilm.lstm_training import run_training
from elmo_plugin.bilm.options import LstmOptions
from elmo_plugin.bilm.precision import FLOAT32, Precision

# Each way to run a layer of all directions over packed rows: a function that prepares the layers
# for a precision, and one that runs them. The training's alone has gradients.
RECURRENCES: dict[str, tuple[Callable[..., Any], Callable[..., LayerOutput]]] = {
    "training": (check_float32, run_training),
    "batched_directions": (pack_batched, run_frozen),
    "sequential": (pack_sequential, run_frozen),
}


class Pass(NamedTuple):
    """
    The settings of a pass through the network.

    precision: of products without gradients derived: stores packed weights and vectors of words, if
    the weights are frozen recurrence: a key of `RECURRENCES`, or "auto" for the fastest on this
    device, with gradients if needed keep_state: whether the final state is needed dropout: whether
    dropout acts
    """

    precision: Precision = FLOAT32
    derived: DerivedValues | None = None
    recurrence: str = "auto"
    keep_state: bool = False
    dropout: bool = False


class DirectionalLstm(nn.Module):
    """
    The layers of one direction.

    In training, dropout acts on the input of every layer and on the output of the last. A skip
    connection adds the layer's input as dropout left it.
    """

    def __init__(self, options: LstmOptions, dropout: float = 0.0) -> None:
        super().__init__()
        self.options = options
        self.layers = nn.ModuleList(
            LstmLayer(options.projection_dim, options) for _ in range(options.n_layers)
        )
        self.dropout = Dropout(dropout)


def zero_state(
    options: LstmOptions, like: Tensor, sentences: int, directions: int = 2
) -> LstmState:
    """Returns zeros for this many sentences, with the type and device of `like`."""
    shape = options.n_layers, directions, sentences
    return LstmState(
        like.new_zeros(*shape, options.projection_dim), like.new_zeros(*shape, options.dim)
    )


def lstm_layers(
    directions: Sequence[DirectionalLstm],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    state: LstmState,
    settings: Pass,
) -> tuple[list[list[Tensor]], LstmState | None]:
    """
    Runs the layers one after the other over packed rows, of shape (rows, projection_dim) for each
    direction. Returns the outputs of each layer, and in it of each direction, and the final state
    if it is needed.
    """
    precision, derived, recurrence, keep_state, dropout = settings
    options = directions[0].options
    needs_gradient = torch.is_grad_enabled() and any(
        tensor.requires_grad
        for tensor in chain(inputs, state, *(lstm.parameters() for lstm in directions))
    )
    if recurrence == "auto":
        rows = len(inputs[0]) / max(len(batch_sizes), 1)  # the mean of a time step
        products = rows * 4 * options.dim * options.projection_dim
        batched = inputs[0].is_cuda or precision.prefers_batched_directions(rows, products)
        recurrence = (
            "training" if needs_gradient else "batched_directions" if batched else "sequential"
        )
    pack, run = RECURRENCES[recurrence]
    outputs, final_states = [], []
    for number in range(options.n_layers):
        if dropout:
            inputs = [lstm.dropout(rows) for lstm, rows in zip(directions, inputs, strict=True)]
        layers = [cast(LstmLayer, lstm.layers[number]) for lstm in directions]
        packed = derive_once(
            derived, ("lstm", number, recurrence, precision.name), pack, layers, precision
        )
        before = LstmState(state.hidden[number], state.cell[number])
        hidden, final = run(packed, inputs, batch_sizes, before, keep_state)
        if number > 0 and options.use_skip_connections:
            hidden = [output + rows for output, rows in zip(hidden, inputs, strict=True)]
        inputs = hidden
        if dropout and number == options.n_layers - 1:
            hidden = [lstm.dropout(rows) for lstm, rows in zip(directions, hidden, strict=True)]
        outputs.append(hidden)
        final_states.append(final)
    return outputs, LstmState(
        *map(torch.stack, zip(*final_states, strict=True))
    ) if keep_state else None
