"""What the biLM's LSTMs remember between two batches."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.recurrence import LstmState


class BiLmState(NamedTuple):
    """The states of both directions, to be given back to the model with the batch that follows."""

    forward: LstmState
    backward: LstmState


def map_state(function: Callable[..., Tensor], *states: BiLmState) -> BiLmState:
    """The state whose tensors `function` makes of the tensors of the given states."""
    return BiLmState(*(LstmState(*map(function, *directions)) for directions in zip(*states, strict=True)))


def start_from(state: BiLmState, zeros: BiLmState) -> BiLmState:
    """
    The state before the first word of each row of a batch: rows (dimension 1) that `state` does not know
    start from zero. `zeros` has as many rows as the batch.
    """

    def overlay(known: Tensor, zero: Tensor) -> Tensor:
        rows = zero.size(1)
        return torch.cat([known[:, :rows], zero[:, known.size(1) :]], dim=1)

    return map_state(overlay, state, zeros)


def go_on_from(before: BiLmState, after: BiLmState) -> BiLmState:
    """The state to hand out behind a batch: rows that the batch did not have stay as they were."""
    return map_state(lambda new, old: torch.cat([new, old[:, new.size(1) :]], dim=1), after, before)
