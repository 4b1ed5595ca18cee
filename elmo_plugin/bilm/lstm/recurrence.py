"""What a recurrence is: one way to run a layer of each direction over packed rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import Tensor

from elmo_plugin.bilm.lstm.layer import LstmLayer
from elmo_plugin.bilm.lstm.state import LstmState
from elmo_plugin.bilm.packing import split_by_rows
from elmo_plugin.bilm.precision import Precision
from elmo_plugin.common.errors import BiLmError

MAX_PROJECTED_ROWS = 512  # of a direction: their gates take 32 MiB with 4096 cells in float32

LayerOutput = tuple[list[Tensor], list[LstmState]]


class Recurrence(ABC):
    """
    Runs one layer of each given direction. A new recurrence is a subclass in its own file, and a line in
    `RECURRENCES`.

    name: its name in the API
    has_gradients: whether it supports gradients
    """

    name: str
    has_gradients = False

    @abstractmethod
    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> Any:
        """
        Prepares the layers of one depth, one per direction, for `run`. Without gradients, later changes to
        the weights do not affect the result.

        Raises `BiLmError` if it does not compute in the precision.
        """

    @abstractmethod
    def run(
        self, packed: Any, inputs: Sequence[Tensor], batch_sizes: Sequence[int], states: Sequence[LstmState]
    ) -> LayerOutput:
        """
        # Parameters

        packed : `Any`
            From `pack`.
        inputs : `Sequence[Tensor]`
            Per direction, shape (rows, input_dim), packed (see `packing.py`).
        batch_sizes : `Sequence[int]`
            The number of rows of each time step, never increasing.
        states : `Sequence[LstmState]`
            Per direction, the state of each sentence before its first time step, in packed order. There may
            be more sentences than the first time step has: those keep their state.

        # Returns

        `list[Tensor]`
            Per direction, shape (rows, projection_dim).
        `list[LstmState]`
            Per direction, each sentence's state after its last time step.
        """


class DifferentiableRecurrence(Recurrence):
    """Computes gradients of the layers' own parameters, so it packs nothing."""

    has_gradients = True

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> Sequence[LstmLayer]:
        if precision.name != "float32":
            raise BiLmError(f"the {self.name} recurrence computes in float32, not in {precision.name}")
        return layers


def run_each(
    run: Callable[[Any, Tensor, Sequence[int], LstmState], tuple[Tensor, LstmState]],
    packed: Sequence[Any],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[LstmState],
) -> LayerOutput:
    """Implements `Recurrence.run` by a function that runs one direction."""
    directions = zip(packed, inputs, states, strict=True)
    results = [run(layer, rows, batch_sizes, state) for layer, rows, state in directions]
    return [output for output, _ in results], [state for _, state in results]


def input_gates(project: Callable[[int, int], Tensor], batch_sizes: Sequence[int]) -> Iterator[Tensor]:
    """
    Yields for each time step the part of the gates that comes from the inputs, shape (..., rows, 4 * dim).

    # Parameters

    project : `Callable[[int, int], Tensor]`
        Gives it for the packed rows from one number to another: one product makes many time steps.
    batch_sizes : `Sequence[int]`
        The number of rows of each time step.
    """
    start = 0
    for sizes in split_by_rows(batch_sizes, MAX_PROJECTED_ROWS):
        stop = start + sum(sizes)
        yield from project(start, stop).split(sizes, dim=-2)
        start = stop
