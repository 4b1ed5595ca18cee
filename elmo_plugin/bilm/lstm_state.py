"""The states of the LSTMs of both directions, between batches."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn


class LstmState(NamedTuple):
    """
    The states of both directions after some tokens of each sentence.

    hidden: (layers, directions, sentences, projection_dim)
    cell: (layers, directions, sentences, dim)

    The state of a single layer has the same shapes without the first dimension.
    """

    hidden: Tensor
    cell: Tensor

    def layer(self, number: int) -> "LstmState":
        """Returns the state of one layer."""
        return LstmState(self.hidden[number], self.cell[number])

    def rows(self, sentences: slice | Tensor) -> "LstmState":
        """Returns the states of these sentences, in this order."""
        return LstmState(self.hidden[:, :, sentences], self.cell[:, :, sentences])

    def resized(self, num_sentences: int) -> "LstmState":
        """Adds zeros for further sentences, or leaves out the last ones."""
        missing = num_sentences - self.cell.size(2)
        # torch counts dimensions from the last one: nothing is added to the vectors, and `missing`
        # rows are added after the sentences, or removed if the number is negative.
        extent = (0, 0, 0, missing)
        hidden = nn.functional.pad(self.hidden, extent)
        cell = nn.functional.pad(self.cell, extent)
        return LstmState(hidden, cell)

    def expanded(self, num_sentences: int) -> "LstmState":
        """Repeats the state of a single sentence, without a copy."""
        shape = (-1, -1, num_sentences, -1)  # -1 leaves a dimension as it is
        return LstmState(self.hidden.expand(shape), self.cell.expand(shape))

    def to(self, like: Tensor) -> "LstmState":
        """Moves the state to the device and the type of `like`."""
        return LstmState(self.hidden.to(like), self.cell.to(like))

    def detach(self) -> "LstmState":
        """Returns the state without its history: gradients do not flow into earlier batches."""
        return LstmState(self.hidden.detach(), self.cell.detach())

    @staticmethod
    def stacked(layers: Sequence["LstmState"]) -> "LstmState":
        """Stacks the states of single layers."""
        hidden = torch.stack([state.hidden for state in layers])
        cell = torch.stack([state.cell for state in layers])
        return LstmState(hidden, cell)

    @staticmethod
    def concatenated(states: Sequence["LstmState"]) -> "LstmState":
        """Puts the sentences of several states one after the other."""
        hidden = torch.cat([state.hidden for state in states], dim=2)
        cell = torch.cat([state.cell for state in states], dim=2)
        return LstmState(hidden, cell)
