"""The layers of one direction, and how those of both are run: the one place that chooses the recurrence.

The backward language model is the same stack over reversed sentences; `network.py` reverses them.
"""

from collections.abc import Iterator, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.kept import need_gradient
from elmo_plugin.bilm.lstm.batched_directions import together
from elmo_plugin.bilm.lstm.layer import LstmState, ProjectedLstmLayer, Recurrence
from elmo_plugin.bilm.lstm.reference import reference_recurrence
from elmo_plugin.bilm.lstm.sequential import in_turn
from elmo_plugin.bilm.lstm.training import training_recurrence
from elmo_plugin.bilm.options import LstmOptions
from elmo_plugin.bilm.precision import has_int8_row
from elmo_plugin.common.errors import BiLmError

RECURRENCES = ("auto", "reference", "training", "in_turn", "together")

# On a CPU, with no more multiplications than this in the recurrent product of a time step and direction,
# starting products takes so long that the directions run together. Measured on two cores with AVX-512.
SMALL_PRODUCT = {"float32": 1 << 21, "bfloat16": 1 << 20, "int8": -1}


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
            ProjectedLstmLayer(options.projection_dim, options) for _ in range(options.n_layers)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        inputs: Tensor,
        batch_sizes: Sequence[int],
        state: LstmState | None = None,
        recurrence: str = "auto",
    ) -> tuple[list[Tensor], LstmState]:
        """
        # Parameters

        inputs : `Tensor`
            Shape (rows, projection_dim), packed (see `packing.py`).
        batch_sizes : `Sequence[int]`
            The number of rows of each time step.
        state : `LstmState | None`
            The state to start from; `None` for zeros.
        recurrence : `str`
            One of `RECURRENCES`.

        # Returns

        `list[Tensor]`
            The output of each layer, shape (rows, projection_dim).
        `LstmState`
            The state after the last time step of each sentence.
        """
        if state is None:
            state = self.zero_state(inputs, batch_sizes[0] if batch_sizes else 0)
        layers, states = zip(*run_layers([self], [inputs], batch_sizes, [state], recurrence), strict=True)
        return [output for (output,) in layers], stack_states([end for (end,) in states])

    def zero_state(self, like: Tensor, sentences: int) -> LstmState:
        """Zeros for so many sentences, of the type of `like` and on its device."""
        options = self.options
        return LstmState(
            like.new_zeros(options.n_layers, sentences, options.projection_dim),
            like.new_zeros(options.n_layers, sentences, options.dim),
        )


def stack_states(states: Sequence[LstmState]) -> LstmState:
    """The state of a direction, from those of its layers."""
    return LstmState(*(torch.stack(parts) for parts in zip(*states, strict=True)))


def run_layers(
    language_models: Sequence[DirectionalLstm],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[LstmState],
    recurrence: str = "auto",
    precision: str = "float32",
) -> Iterator[tuple[list[Tensor], list[LstmState]]]:
    """
    Runs the layers one after the other.

    # Parameters

    language_models : `Sequence[DirectionalLstm]`
        One or both directions.
    inputs : `Sequence[Tensor]`
        Per direction, shape (rows, projection_dim), packed; see `Recurrence`.
    batch_sizes : `Sequence[int]`
        The number of rows of each time step.
    states : `Sequence[LstmState]`
        Per direction, the state to start from, in packed order.
    recurrence : `str`
        One of `RECURRENCES`; "auto" takes the fastest that the device has and that gives the gradients
        that are asked for.
    precision : `str`
        The precision of a recurrence without gradients (see `products.py`).

    # Returns

    `Iterator[tuple[list[Tensor], list[LstmState]]]`
        Per layer: for each direction its output, shape (rows, projection_dim), and its state after the last
        time step.
    """
    if recurrence == "auto":
        recurrence = _fastest(language_models, inputs, batch_sizes, states, precision)
    run = _find(recurrence, precision)
    depth = language_models[0].options.n_layers
    for number in range(depth):
        inputs = [lm.dropout(rows) for lm, rows in zip(language_models, inputs, strict=True)]
        outputs, ends = run(
            [cast(ProjectedLstmLayer, lm.layers[number]) for lm in language_models],
            inputs,
            batch_sizes,
            [LstmState(state.hidden[number], state.cell[number]) for state in states],
        )
        if number > 0 and language_models[0].options.use_skip_connections:
            outputs = [output + rows for output, rows in zip(outputs, inputs, strict=True)]
        inputs = outputs
        if number == depth - 1:
            outputs = [lm.dropout(output) for lm, output in zip(language_models, outputs, strict=True)]
        yield outputs, ends


def _fastest(
    language_models: Sequence[DirectionalLstm],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[LstmState],
    precision: str,
) -> str:
    """The name of the fastest recurrence that gives the gradients that are asked for."""
    if torch.is_grad_enabled():
        parameters = (parameter for lm in language_models for parameter in lm.parameters())
        given = (part for state in states for part in state)
        if need_gradient((*parameters, *inputs, *given)):
            return "training"
    options = language_models[0].options
    rows = len(inputs[0]) / max(len(batch_sizes), 1)  # of a time step, on average
    if inputs[0].is_cuda or rows * 4 * options.dim * options.projection_dim <= SMALL_PRODUCT[precision]:
        return "together"
    is_row = batch_sizes[:1] == [1]
    return "together" if precision == "int8" and is_row and has_int8_row() else "in_turn"


def _find(name: str, precision: str) -> Recurrence:
    if name not in RECURRENCES:
        raise BiLmError(f"a recurrence is one of {', '.join(RECURRENCES)}, not {name!r}")
    if name in ("in_turn", "together"):
        return in_turn(precision) if name == "in_turn" else together(precision)
    if precision != "float32":
        raise BiLmError(f"the {name} recurrence computes in float32, not in {precision}")
    return reference_recurrence if name == "reference" else training_recurrence
