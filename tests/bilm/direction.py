"""Runs one direction alone."""

from collections.abc import Sequence

from torch import Tensor

from elmo_plugin.bilm.lstm import DirectionalLstm, ForwardSettings, lstm_layers, zero_state
from elmo_plugin.bilm.lstm_state import LstmState


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
        state = LstmState(state.hidden.unsqueeze(1), state.cell.unsqueeze(1))
    settings = ForwardSettings(recurrence=recurrence, keep_state=True, dropout=lm.training)
    layers, final = lstm_layers([lm], [inputs], batch_sizes, state, settings)
    assert final is not None
    return [output for (output,) in layers], LstmState(
        final.hidden.squeeze(1), final.cell.squeeze(1)
    )
