"""What a precision is: the numbers in which a biLM computes where no gradient is asked for."""

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
            Shape (directions, rows, outputs). It gets the products.
        added : `Tensor | None`
            Added to the products, of the shape of `out`.
        """


class Precision(ABC):
    """
    Packs weights and says where and when that is of use. Parameters and activations stay float32; a new
    precision is a subclass in a file of its own, and a line in `PRECISIONS`.

    name: what people type
    """

    name: str

    @abstractmethod
    def check(self, device: torch.device) -> None:
        """Raises `BiLmError` where this machine cannot compute in the precision, or computes it wrong."""

    @abstractmethod
    def pack(self, weight: Tensor, bias: Tensor | None) -> PackedLinear:
        """
        Packs a weight, shape (outputs, inputs), and a bias, shape (outputs,). Later changes of them do not
        reach the result.
        """

    @abstractmethod
    def pack_directions(self, weights: Sequence[Tensor]) -> PackedDirections:
        """Packs the weights of several directions, each of shape (outputs, inputs)."""

    @abstractmethod
    def activation_dtype(self, weight: Tensor) -> torch.dtype:
        """The type of the products of a packed weight."""

    @abstractmethod
    def prefers_batched_directions(self, rows: float, multiplications: float) -> bool:
        """
        Tells whether, on a CPU, both directions are faster in one batched product than one after the other.

        # Parameters

        rows : `float`
            The mean number of rows of a time step.
        multiplications : `float`
            How many the recurrent product of a time step has in one direction.
        """
