"""Runs one direction alone."""

from collections.abc import Sequence

from torch import Tensor

from elmo_plugin.bilm.batching import LstmState, map_state
from elmo_plugin.bilm.lstm import DirectionalLstm, Pass, lstm_layers, zero_state


def run_direction(
    lm: DirectionalLstm,
    inputs: Tensor,
    batch_sizes: Sequence[int],
    state: LstmState | None = None,
    recurrence: str = "auto",
) -> tuple[list[Tensor], LstmState]:
    """Returns the outputs of each layer, and their final state, shape (layers, sentences, ...)."""
    if state is None:
        state = zero_state(lm.options, inputs, batch_sizes[0] if batch_sizes else 0, directions=1)
    else:
        state = map_state(lambda part: part.unsqueeze(1), state)
    settings = Pass(recurrence=recurrence, keep_state=True, dropout=lm.training)
    layers, final = lstm_layers([lm], [inputs], batch_sizes, state, settings)
    assert final is not None
    return [output for (output,) in layers], map_state(lambda part: part.squeeze(1), final)
