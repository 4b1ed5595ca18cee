"""The layers of one direction, and how those of both are run: the one place that chooses the recurrence.

The backward language model is the same layers over reversed sentences; `BiLmNetwork` reverses them.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.dropout import Dropout
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.lstm.batched_directions import BatchedDirectionsRecurrence
from elmo_plugin.bilm.lstm.layer import LstmLayer
from elmo_plugin.bilm.lstm.recurrence import LayerOutput, Recurrence
from elmo_plugin.bilm.lstm.reference import ReferenceRecurrence
from elmo_plugin.bilm.lstm.sequential import SequentialRecurrence
from elmo_plugin.bilm.lstm.state import LstmState
from elmo_plugin.bilm.lstm.training import TrainingRecurrence
from elmo_plugin.bilm.options import LstmOptions
from elmo_plugin.bilm.precision import PRECISIONS, Precision
from elmo_plugin.common.errors import BiLmError

RECURRENCES: dict[str, Recurrence] = {
    recurrence.name: recurrence
    for recurrence in (
        ReferenceRecurrence(),
        TrainingRecurrence(),
        BatchedDirectionsRecurrence(),
        SequentialRecurrence(),
    )
}


class DirectionalLstm(nn.Module):
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
            LstmLayer(options.projection_dim, options) for _ in range(options.n_layers)
        )
        self.dropout = Dropout(dropout)

    def zero_state(self, like: Tensor, sentences: int) -> LstmState:
        """Returns zeros for this many sentences, of the type of `like` and on its device."""
        options = self.options
        return LstmState(
            like.new_zeros(options.n_layers, sentences, options.projection_dim),
            like.new_zeros(options.n_layers, sentences, options.dim),
        )


def run_layers(
    directions: Sequence[DirectionalLstm],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[LstmState],
    recurrence: str = "auto",
    *,
    precision: Precision = PRECISIONS["float32"],
    weights: InferenceWeights | None = None,
    dropout: bool = False,
) -> Iterator[LayerOutput]:
    """
    Runs the layers one after the other.

    # Parameters

    directions : `Sequence[DirectionalLstm]`
        One or both.
    inputs, batch_sizes, states
        See `Recurrence.run`; the states are those of all layers.
    recurrence : `str`
        One of `RECURRENCES`, or "auto" for the fastest on this device, with gradients if they are needed.
    precision : `Precision`
        The numbers in which a recurrence without gradients computes.
    weights : `InferenceWeights | None`
        Stores packed weights; `None` to pack them for this call only.
    dropout : `bool`
        Whether dropout is applied.

    # Returns

    `Iterator[LayerOutput]`
        The result of `Recurrence.run` for each layer.

    Raises `BiLmError` if the recurrence is unknown, or gradients are needed and it has none.
    """
    needs_gradient = _needs_gradient(directions, inputs, states)
    options = directions[0].options
    if recurrence == "auto":
        rows = len(inputs[0]) / max(len(batch_sizes), 1)
        recurrence = _fastest(needs_gradient, inputs[0].is_cuda, rows, options, precision)
    if recurrence not in RECURRENCES:
        raise BiLmError(f"a recurrence is auto or one of {', '.join(RECURRENCES)}, not {recurrence!r}")
    chosen = RECURRENCES[recurrence]
    if needs_gradient and not chosen.has_gradients:
        raise BiLmError(f"the {recurrence} recurrence has no gradients; auto and training have")
    weights = weights or InferenceWeights([])
    for number in range(options.n_layers):
        if dropout:
            inputs = [lstm.dropout(rows) for lstm, rows in zip(directions, inputs, strict=True)]
        layers = [cast(LstmLayer, lstm.layers[number]) for lstm in directions]
        packed = weights.get(
            ("lstm", number, chosen.name, precision.name), partial(chosen.pack, layers, precision)
        )
        of_layer = [LstmState(state.hidden[number], state.cell[number]) for state in states]
        outputs, final_states = chosen.run(packed, inputs, batch_sizes, of_layer)
        if number > 0 and options.use_skip_connections:
            outputs = [output + rows for output, rows in zip(outputs, inputs, strict=True)]
        inputs = outputs
        if dropout and number == options.n_layers - 1:
            outputs = [lstm.dropout(output) for lstm, output in zip(directions, outputs, strict=True)]
        yield outputs, final_states


def _needs_gradient(
    directions: Sequence[DirectionalLstm], inputs: Sequence[Tensor], states: Sequence[LstmState]
) -> bool:
    if not torch.is_grad_enabled():
        return False
    parameters = (parameter for lstm in directions for parameter in lstm.parameters())
    given = (part for state in states for part in state)
    return any(tensor.requires_grad for tensor in (*parameters, *inputs, *given))


def _fastest(
    needs_gradient: bool, is_cuda: bool, rows: float, options: LstmOptions, precision: Precision
) -> str:
    """Chooses a recurrence, where a time step has `rows` rows on average."""
    if needs_gradient:
        return TrainingRecurrence.name
    multiplications = rows * 4 * options.dim * options.projection_dim
    if is_cuda or precision.prefers_batched_directions(rows, multiplications):
        return BatchedDirectionsRecurrence.name
    return SequentialRecurrence.name
