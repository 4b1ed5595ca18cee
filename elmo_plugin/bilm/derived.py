"""Values that a frozen biLM derives from its weights and keeps between batches, such as vectors of
words.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from elmo_plugin.common.errors import BiLmError

if TYPE_CHECKING:
    from typing_extensions import Self  # in `typing` from Python 3.11 on

Value = TypeVar("Value")


class DerivedValues:
    """
    Values derived from frozen weights, each computed on first use: packed LSTM weights, tables of
    the character CNN, vectors of words, the state after `<S>`, digests. A biLM owns them, and
    replaces this object when its weights change.
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self._identities = _identities(parameters)
        # Keeps the weights' memory in use, so that no other weight can get the same address.
        self._kept_weights = [weight.detach() for weight in parameters]
        # Writes that torch does not count are noticed if they change these values. (Not the first
        # values: an embedding begins with a row of padding, and that stays zero.) The views share
        # the memory of the weights, and the bytes are copies.
        on_cpu = [weight for weight in self._kept_weights if weight.device.type == "cpu"]
        self._middle_views = [_middle_value(weight) for weight in on_cpu]
        self._middle_bytes = [view.tobytes() for view in self._middle_views]
        self._values: dict[tuple[Hashable, ...], Any] = {}

    def is_valid_for(self, parameters: Sequence[Tensor]) -> bool:
        """
        Returns whether the values were derived from these parameters, and the parameters are
        unchanged. To be fast, this does not read all weights. It compares their addresses, layouts
        and torch's counters of writes, and on a CPU the middle value of each weight.

        A weight with a `grad` counts as changed: an optimizer probably changes it, and torch does
        not count the writes of fused optimizers.
        """
        for weight in parameters:
            if weight.grad is not None:
                return False
        if _identities(parameters) != self._identities:
            return False
        # The addresses are the same, so the views show the values that the weights have now.
        return [view.tobytes() for view in self._middle_views] == self._middle_bytes

    def get_or_derive(
        self, key: tuple[Hashable, ...], derive: Callable[..., Value], *arguments: Any
    ) -> Value:
        """Returns the value of this key. The first time, that is `derive(*arguments)`."""
        values = self._values  # read once, because `drop` in another thread may replace it
        if key in values:
            return values[key]
        # Two threads may both call `derive`; then both get the value that was stored first. A lock
        # would prevent that, but a process forked meanwhile would find it taken for ever. Each
        # operation on the dictionary is atomic.
        return values.setdefault(key, derive(*arguments))

    def drop(self, *kinds: str) -> None:
        """Drops the values whose keys begin with one of `kinds`, such as "words"."""
        values = self._values.copy()  # another thread may add a value meanwhile
        self._values = {key: value for key, value in values.items() if key[0] not in kinds}


def _identities(parameters: Sequence[Tensor]) -> list[tuple[object, ...]]:
    """Returns the address, the layout and the number of writes of each weight."""
    identities: list[tuple[object, ...]] = []
    for weight in parameters:
        writes = 0
        if not weight.is_inference():  # torch does not count writes to tensors of inference mode
            writes = weight._version
        address = weight.data_ptr()
        identities.append((address, weight.shape, weight.stride(), weight.dtype, writes))
    return identities


def _middle_value(weight: Tensor) -> np.ndarray:
    """Returns a view of the bytes of the middle value of a weight on a CPU."""
    # Not by `flatten`, because that copies a weight that is not contiguous.
    middle = weight
    for place in np.unravel_index(weight.numel() // 2, weight.shape):
        middle = middle[int(place)]
    return middle.reshape(1).view(torch.uint8).numpy()


def derive_once(
    derived: DerivedValues | None,
    key: tuple[Hashable, ...],
    derive: Callable[..., Value],
    *arguments: Any,
) -> Value:
    """Returns `derive(*arguments)`. Unless `derived` is `None`, it is stored there and reused."""
    if derived is None:
        return derive(*arguments)
    return derived.get_or_derive(key, derive, *arguments)


class DerivingModule(nn.Module):
    """A module whose weights, while they are frozen, have `DerivedValues`."""

    def __init__(self) -> None:
        super().__init__()
        self._derived: DerivedValues | None = None

    @property
    def is_trainable(self) -> bool:
        """Whether any weight requires gradients; if not, the biLM is frozen."""
        return any(weight.requires_grad for weight in self.parameters())

    def derived_values(self) -> DerivedValues | None:
        """
        Returns the values derived from the weights, or `None` if the weights are trained. If the
        weights have changed, the old values are dropped; `refresh` says which changes are noticed.
        """
        parameters = list(self.parameters())
        # Not `is_trainable`, because a list is faster, and this runs for each batch.
        requires_grad = [weight.requires_grad for weight in parameters]
        if any(requires_grad):
            self._derived = None
            return None
        derived = self._derived  # read once, because another thread may replace it
        if derived is None or not derived.is_valid_for(parameters):
            derived = DerivedValues(parameters)
            self._derived = derived
        return derived

    def refresh(self) -> None:
        """
        Drops everything that was derived from the weights: packed weights, vectors of words,
        digests.

        This happens automatically if a weight

        - requires gradients, or has a `grad`
        - is replaced, or gets other memory (`weight.data = ...`, `to` and the like)
        - is written to by an operation that torch counts, such as `load_state_dict`, `nn.init` or
          most optimizers, whether or not in `no_grad`

        torch does not count writes through `.data` or numpy, nor the writes of fused optimizers. On
        a CPU, such a write is noticed if it changes the one value in the middle of a weight's
        memory, as a step of an optimizer does. So call this method after writing only some of the
        values. On a GPU such writes are not noticed: call it after each of them.
        """
        self._derived = None

    def clear_word_cache(self) -> None:
        """Drops the vectors of all words, so that the next batch encodes its own again."""
        if self._derived is not None:
            # The state after a boundary was computed from the boundary's vector.
            self._derived.drop("words", "state_after_boundary")

    def _apply(self, *args: Any, **kwargs: Any) -> "Self":
        self.refresh()  # first, so that derived values and moved weights are not in memory together
        return super()._apply(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the derived values: copies and pickles derive their own."""
        return {**self.__dict__, "_derived": None}

    def _replicate_for_data_parallel(self) -> NoReturn:
        """Raises `BiLmError`; torch calls this for each batch of `nn.DataParallel`."""
        raise BiLmError(
            "nn.DataParallel cannot run a biLM: its replicas lack parameters. Use one "
            'process for each GPU: "distributed" in a configuration, or torch\'s '
            "DistributedDataParallel"
        )
