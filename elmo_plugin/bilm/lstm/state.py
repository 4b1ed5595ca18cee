"""What the biLM's LSTMs remember between two batches."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm import LstmState, stack_states


class BiLmState(NamedTuple):
    """The states of both directions, to be given back to the model with the batch that follows."""

    forward: LstmState
    backward: LstmState


def map_state(function: Callable[..., Tensor], *states: BiLmState) -> BiLmState:
    """The state whose tensors `function` makes of the tensors of the given states."""
    return BiLmState(*(LstmState(*map(function, *directions)) for directions in zip(*states, strict=True)))


def select(state: BiLmState, sentences: Tensor | slice) -> BiLmState:
    """The state of these sentences, in their order."""
    return map_state(lambda part: part[:, sentences], state)


def join(states: Sequence[BiLmState]) -> BiLmState:
    """The state of the sentences of all states, one behind the other."""
    return map_state(lambda *parts: torch.cat(parts, dim=1), *states)


def of_layers(ends: Sequence[Sequence[LstmState]]) -> BiLmState:
    """The state from those of each layer, forward and backward."""
    return BiLmState(*(stack_states(direction) for direction in zip(*ends, strict=True)))


def initial_state(state: BiLmState, zeros: BiLmState) -> BiLmState:
    """
    The state before the first word of each sentence of a batch: sentences that `state` does not know start
    from zero. `zeros` is for as many sentences as the batch has.
    """

    def overlay(known: Tensor, zero: Tensor) -> Tensor:
        return torch.cat([known[:, : zero.size(1)], zero[:, known.size(1) :]], dim=1)

    return map_state(overlay, state, zeros)


def merge_state(before: BiLmState, after: BiLmState) -> BiLmState:
    """The state to hand out behind a batch: sentences that the batch did not have stay as they were."""
    return map_state(lambda new, old: torch.cat([new, old[:, new.size(1) :]], dim=1), after, before)
