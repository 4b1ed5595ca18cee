"""The interface of a precision: the numbers in which a biLM computes without gradients."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor


class PackedLinear(Protocol):
    """`inputs @ weight.t() + bias`, with the weight in the layout that the library multiplies fastest."""

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`
            Shape (rows, inputs).
        added : `Tensor | None`
            Added to the result, of its shape and type.

        # Returns

        `Tensor`
            Shape (rows, outputs).
        """


class PackedDirections(Protocol):
    """The products of several directions at once, each with a weight of its own."""

    def __call__(self, inputs: Tensor, out: Tensor, added: Tensor | None = None) -> None:
        """
        # Parameters

        inputs : `Tensor`
            Shape (directions, rows, inputs).
        out : `Tensor`
            Shape (directions, rows, outputs). The products are written to it.
        added : `Tensor | None`
            Added to the products, of the shape of `out`.
        """


class Precision(ABC):
    """
    Packs weights, and says when that is useful. Parameters and activations stay float32. A new precision is a
    subclass in its own file, and a line in `PRECISIONS`.

    name: its name in options
    """

    name: str

    @abstractmethod
    def check(self, device: torch.device) -> None:
        """Raises `BiLmError` if this machine cannot compute in the precision, or computes wrong results."""

    @abstractmethod
    def pack(self, weight: Tensor, bias: Tensor | None) -> PackedLinear:
        """
        Packs a weight, shape (outputs, inputs), and a bias, shape (outputs,). Later changes to them do not
        affect the result.
        """

    @abstractmethod
    def pack_directions(self, weights: Sequence[Tensor]) -> PackedDirections:
        """Packs the weights of several directions, each of shape (outputs, inputs)."""

    @abstractmethod
    def activation_dtype(self, weight: Tensor) -> torch.dtype:
        """Returns the type of the products with a packed weight."""

    @abstractmethod
    def prefers_batched_directions(self, rows: float, multiplications: float) -> bool:
        """
        Returns whether, on a CPU, one batched product is faster for both directions than one product each.

        # Parameters

        rows : `float`
            The mean number of rows of a time step.
        multiplications : `float`
            Their number in the recurrent product of a time step of one direction.
        """
