"""What is made from a model's weights and kept for the next call, such as weights laid out for a library."""

import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from torch import Tensor

Value = TypeVar("Value")


def fingerprint(parameters: Iterable[Tensor]) -> tuple[Hashable, ...] | None:
    """
    What changes when a parameter gets new values: its storage, type, device, and the number of changes made
    in place. `None` where that number is not known (tensors made in inference mode).

    Changes through `.data` or a numpy view are not counted by torch.
    """
    marks: list[Hashable] = []
    for parameter in parameters:
        if parameter.is_inference():
            return None
        marks.append((parameter.data_ptr(), parameter._version, parameter.dtype, parameter.device))
    return tuple(marks)


def need_gradient(tensors: Iterable[Tensor]) -> bool:
    """Whether any of them is being trained."""
    return any(tensor.requires_grad for tensor in tensors)


@dataclass(frozen=True)
class _Entry(Generic[Value]):
    made_from: list[Tensor]  # held, so that no new parameter can lie where an old one was
    marks: tuple[Hashable, ...]
    value: Value


class Kept(Generic[Value]):
    """
    Values made from parameters, one for each key. A value is made again when its parameters have changed, and
    each time while they are being trained: optimisers and moving averages may change them in ways that torch
    does not count.

    Copies of the module that owns it, pickled ones too, start without the values.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry[Value]] = {}
        self._lock = threading.Lock()

    def get(self, parameters: Iterable[Tensor], key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of `make`, kept from an earlier call with the same `key` and unchanged parameters."""
        parameters = list(parameters)
        marks = fingerprint(parameters)
        if marks is None or need_gradient(parameters):
            self.forget()
            return make()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.marks != marks:
                entry = _Entry([parameter.detach() for parameter in parameters], marks, make())
                self._entries[key] = entry
            return entry.value

    def forget(self) -> None:
        with self._lock:
            self._entries = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()
