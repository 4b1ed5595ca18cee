"""What is derived from frozen weights: built once, and dropped in one place when the weights change."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import torch
from torch import Tensor

Value = TypeVar("Value")


def parameter_versions(parameters: Iterable[Tensor]) -> Hashable | None:
    """
    Returns what changes when a frozen parameter gets new values: its storage, type, device, and how often it
    was changed in place. Returns `None` where a parameter is trained (optimizers and moving averages may
    change it in ways that torch does not count) or was made in inference mode (where torch does not count).

    Changes through `.data` or a numpy view are not seen: see `BiLm.refresh`.
    """
    versions = []
    for parameter in parameters:
        if parameter.requires_grad or parameter.is_inference():
            return None
        versions.append((parameter.data_ptr(), parameter._version, parameter.dtype, parameter.device))
    return tuple(versions)


class InferenceWeights:
    """
    Holds packed LSTM weights, tables of the character CNN, vectors of word types, the state after the first
    boundary, the digest of the weights, and the last outputs. Its owner is one `BiLm`, which replaces it
    when a parameter has changed (see `BiLm.inference_weights`).

    # Parameters

    parameters : `Iterable[Tensor]`
        What all values are derived from. They are held, so that no new parameter can lie where an old one
        was.
    """

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        parameters = list(parameters)
        self.versions = parameter_versions(parameters)
        self._parameters = [parameter.detach() for parameter in parameters]
        self._values: dict[tuple[Hashable, ...], Any] = {}

    def get(self, key: tuple[Hashable, ...], derive: Callable[[], Value]) -> Value:
        """Returns the value of this key, from `derive` at the first call."""
        values = self._values  # another thread may clear the types
        if key in values:
            return values[key]
        # `derive` may need other values, and two threads may both call it. There is no lock, which a process
        # that is forked meanwhile would find taken for ever: each operation on the dictionary is atomic.
        return self._values.setdefault(key, derive())

    def drop(self, *kinds: str) -> None:
        """Drops the values whose keys begin with one of `kinds`."""
        self._values = {key: value for key, value in self._values.copy().items() if key[0] not in kinds}


class RecentOutputs:
    """Keeps the outputs for the last few batches: of two text fields, each read at two placements."""

    CAPACITY = 2

    def __init__(self) -> None:
        self._entries: list[tuple[Tensor, Hashable, Any]] = []

    def find(self, character_ids: Tensor, settings: Hashable) -> Any | None:
        """Returns the stored output for a batch with the same content and settings, or `None`."""
        for kept_ids, kept_settings, output in self._entries:
            if kept_settings == settings and _are_equal(kept_ids, character_ids):
                return output
        return None

    def add(self, character_ids: Tensor, settings: Hashable, output: Any) -> None:
        """Stores an output, in place of the oldest one if it is full."""
        self._entries = [*self._entries, (character_ids, settings, output)][-self.CAPACITY :]


def _are_equal(one: Tensor, other: Tensor) -> bool:
    kinds = {(ids.shape, ids.dtype, ids.device) for ids in (one, other)}
    return len(kinds) == 1 and torch.equal(one, other)
