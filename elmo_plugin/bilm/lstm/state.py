"""What LSTMs carry from one batch to the next."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class LstmState(NamedTuple):
    """
    The state of one direction.

    hidden: (layers, batch, projection_dim), or without the first dimension the state of one layer
    cell: (layers, batch, dim), likewise
    """

    hidden: Tensor
    cell: Tensor


class BiLmState(NamedTuple):
    """The states of both directions, to be given back to the model with the batch that follows."""

    forward: LstmState
    backward: LstmState


def stack_layers(states: Sequence[LstmState]) -> LstmState:
    """Stacks the states of the layers of one direction."""
    return LstmState(*(torch.stack(parts) for parts in zip(*states, strict=True)))


def map_state(function: Callable[..., Tensor], *states: BiLmState) -> BiLmState:
    """Applies `function` to the tensors of the given states."""
    return BiLmState(*(LstmState(*map(function, *directions)) for directions in zip(*states, strict=True)))


def select_state(state: BiLmState, sentences: Tensor | slice) -> BiLmState:
    """Returns the state of these sentences, in their order."""
    return map_state(lambda part: part[:, sentences], state)


def concat_states(states: Sequence[BiLmState]) -> BiLmState:
    """Concatenates the sentences of all states."""
    return map_state(lambda *parts: torch.cat(parts, dim=1), *states)


def pad_state(state: BiLmState, zeros: BiLmState) -> BiLmState:
    """
    Returns the state to start a batch from: sentences that `state` does not have start from zero, and those
    that the batch does not have are left out. `zeros` has as many sentences as the batch.
    """

    def pad(known: Tensor, zero: Tensor) -> Tensor:
        return torch.cat([known[:, : zero.size(1)], zero[:, known.size(1) :]], dim=1)

    return map_state(pad, state, zeros)


def merge_state(initial: BiLmState, final: BiLmState) -> BiLmState:
    """Returns the state to hand out after a batch: sentences that it did not have stay as they were."""
    return map_state(lambda new, old: torch.cat([new, old[:, new.size(1) :]], dim=1), final, initial)
