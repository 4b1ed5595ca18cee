"""The layers of one direction, and the one place that chooses how both directions run.

The backward language model is the same layers over reversed sentences; `BiLm` reverses them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.derived import DerivedValues, derive_once
from elmo_plugin.bilm.dropout import Dropout
from elmo_plugin.bilm.lstm_cell import LstmLayer, Recurrence
from elmo_plugin.bilm.lstm_frozen import BatchedRecurrence, SeparateRecurrence
from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.bilm.lstm_training import TrainingRecurrence
from elmo_plugin.bilm.options import LstmOptions
from elmo_plugin.bilm.packing import mean_rows_of_a_step
from elmo_plugin.bilm.precision import FLOAT32, Precision
from elmo_plugin.common.errors import BiLmError

RECURRENCES: dict[str, Recurrence[Any]] = {
    "training": TrainingRecurrence(),
    "batched_directions": BatchedRecurrence(),
    "separate_directions": SeparateRecurrence(),
}


class ForwardSettings(NamedTuple):
    """
    How one batch goes through the network.

    precision: the precision of products without gradients
    derived: stores packed weights and vectors of words; `None` if the weights are trained
    recurrence: a key of `RECURRENCES`; or "auto" for the fastest one on this device, with gradients
        if they are needed
    keep_state: whether the final state is needed
    dropout: whether dropout acts
    """

    precision: Precision = FLOAT32
    derived: DerivedValues | None = None
    recurrence: str = "auto"
    keep_state: bool = False
    dropout: bool = False


class DirectionalLstm(nn.Module):
    """
    Holds the layers of one direction; `lstm_layers` runs them, for both directions together.

    In training, dropout acts on the input of every layer and on the output of the last. A skip
    connection adds the input of its layer after dropout.
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
    shape = (options.n_layers, directions, sentences)
    hidden = like.new_zeros(*shape, options.projection_dim)
    cell = like.new_zeros(*shape, options.dim)
    return LstmState(hidden, cell)


def lstm_layers(
    directions: Sequence[DirectionalLstm],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    state: LstmState,
    settings: ForwardSettings,
) -> tuple[list[list[Tensor]], LstmState | None]:
    """
    Runs the layers one after the other over the packed rows of each direction, shape (rows,
    projection_dim). Returns, for each layer, the outputs of each direction; and the final state if
    it is needed.
    """
    options = directions[0].options
    recurrence_name = _choose_recurrence(options, inputs, batch_sizes, state, settings)
    recurrence = RECURRENCES[recurrence_name]
    outputs = []
    final_states = []
    for number in range(options.n_layers):
        if settings.dropout:
            inputs = _drop(directions, inputs)
        layer_of_each_direction = [cast(LstmLayer, lstm.layers[number]) for lstm in directions]
        packed = derive_once(
            settings.derived,
            ("lstm", number, recurrence_name, settings.precision.name),
            recurrence.pack,
            layer_of_each_direction,
            settings.precision,
        )
        before = state.layer(number)
        hidden, final = recurrence.run(packed, inputs, batch_sizes, before, settings.keep_state)
        if number > 0 and options.use_skip_connections:  # the first layer has none
            hidden = [output + rows for output, rows in zip(hidden, inputs, strict=True)]
        inputs = hidden  # Shapes: (rows, projection_dim)
        outputs.append(hidden)
        if final is not None:
            final_states.append(final)
    if settings.dropout:  # in the loop, dropout acts on the inputs of layers only
        outputs[-1] = _drop(directions, outputs[-1])
    if not settings.keep_state:
        return outputs, None
    return outputs, LstmState.stacked(final_states)


def _choose_recurrence(
    options: LstmOptions,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    state: LstmState,
    settings: ForwardSettings,
) -> str:
    """
    Returns the name of the recurrence in the settings; for "auto", the fastest one that can compute
    this batch. Raises `BiLmError` if gradients are to be computed in another precision than
    float32.
    """
    name = settings.recurrence
    if name == "auto":
        if needs_gradients(settings, state):
            name = "training"
        elif _prefers_batched_directions(options, inputs, batch_sizes, settings):
            name = "batched_directions"
        else:
            name = "separate_directions"
    if RECURRENCES[name].has_gradients and settings.precision.name != "float32":
        raise BiLmError(
            f"LSTMs with gradients are computed in float32, not in {settings.precision.name}"
        )
    return name


def needs_gradients(settings: ForwardSettings, state: LstmState | None) -> bool:
    """
    Returns whether gradients are computed: they are switched on, and the weights or the state
    before the batch need them.
    """
    if not torch.is_grad_enabled():
        return False
    if settings.derived is None:  # only frozen weights have derived values
        return True
    return state is not None and (state.hidden.requires_grad or state.cell.requires_grad)


def _prefers_batched_directions(
    options: LstmOptions,
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    settings: ForwardSettings,
) -> bool:
    """Returns whether one batched product for both directions is faster than one product each."""
    if inputs[0].is_cuda:
        return True
    rows_of_a_step = mean_rows_of_a_step(inputs[0], batch_sizes)
    gates_dim = 4 * options.dim  # an LSTM has four gates
    multiplications = rows_of_a_step * gates_dim * options.projection_dim
    return settings.precision.prefers_batched_directions(rows_of_a_step, multiplications)


def _drop(directions: Sequence[DirectionalLstm], inputs: Sequence[Tensor]) -> list[Tensor]:
    """Applies the dropout of each direction to its rows."""
    return [lstm.dropout(rows) for lstm, rows in zip(directions, inputs, strict=True)]
