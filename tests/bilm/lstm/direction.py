"""Runs one direction alone."""

from collections.abc import Sequence

from torch import Tensor

from elmo_plugin.bilm.lstm import DirectionalLstm, LstmState, run_layers, stack_layers


def run_direction(
    lm: DirectionalLstm,
    inputs: Tensor,
    batch_sizes: Sequence[int],
    state: LstmState | None = None,
    recurrence: str = "auto",
) -> tuple[list[Tensor], LstmState]:
    """Returns the outputs of each layer, and the final state of all layers."""
    if state is None:
        state = lm.zero_state(inputs, batch_sizes[0] if batch_sizes else 0)
    results = run_layers([lm], [inputs], batch_sizes, [state], recurrence, dropout=lm.training)
    layers, states = zip(*results, strict=True)
    return [output for (output,) in layers], stack_layers([final for (final,) in states])
