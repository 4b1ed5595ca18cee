"""The choice of layers: by a name, by numbers, or by a weight for each."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard, cast

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.common.errors import BiLmError

Layers = str | int | Sequence[float]
LAYER_NAMES = ("all", "mean", "sum", "top", "token")
_SUM_TOLERANCE = 0.01  # for the sum of rounded weights, such as three times 0.333


def select_layers(vectors: Tensor, layers: Layers) -> Tensor:
    """
    Selects `layers` from the vectors of all layers, shape (num_layers, ..., dim).

    "all" returns all layers, "mean" their average, "sum" their sum, "top" the last layer and
    "token" the first. A number returns that layer. A list with a weight for each layer returns
    their weighted average. The shape of the result is (..., dim), except for "all".
    """
    check_layers(layers, len(vectors))
    if _are_weights(layers):
        weights = vectors.new_tensor(mixing_weights(layers, len(vectors)))
        return torch.tensordot(weights, vectors, dims=1)
    if layers == "all":
        return vectors
    if layers == "mean":
        return vectors.mean(dim=0)
    if layers == "sum":
        return vectors.sum(dim=0)
    if layers == "top":
        return vectors[-1]
    if layers == "token":
        return vectors[0]
    return vectors[cast(int, layers)]


def check_layers(layers: Layers, num_layers: int | None = None) -> None:
    """
    Raises `BiLmError` unless `select_layers` accepts the layers. `num_layers` is `None` as long as
    the biLM is not known.
    """
    if _are_weights(layers):
        mixing_weights(layers, num_layers)  # called only for its check
        return
    if num_layers is None:
        is_number = is_layer(layers, math.inf)
        expected_number = "a layer's number"
    else:
        is_number = is_layer(layers, num_layers)
        expected_number = f"a layer's number from 0 to {num_layers - 1}"
    is_name = isinstance(layers, str) and layers in LAYER_NAMES
    if not is_name and not is_number:
        raise BiLmError(
            f"layers: expected {', '.join(LAYER_NAMES)}, {expected_number} or a weight for each "
            f"layer, got {layers!r}"
        )


def _are_weights(layers: Any) -> TypeGuard[Sequence[float]]:
    """Returns whether these are weights, in a list, an array or a tensor, instead of a layer."""
    return isinstance(layers, list | tuple) or getattr(layers, "ndim", 0) == 1


def mixing_weights(weights: Sequence[float], num_layers: int | None = None) -> list[float]:
    """
    Returns the weights of layers, given as a list, an array or a tensor. They are divided by their
    sum, so that rounded weights have the sum 1 too.

    Raises `BiLmError` unless there is a weight for each layer, none is negative, and their sum is
    about 1.
    """
    if isinstance(weights, np.ndarray | Tensor):
        weights = weights.tolist()
    # NaN is refused too, because `weight >= 0` is false for it.
    are_weights = all(isinstance(weight, Real) and weight >= 0 for weight in weights)
    is_one_per_layer = num_layers is None or len(weights) == num_layers
    if not are_weights or not is_one_per_layer or abs(sum(weights) - 1) > _SUM_TOLERANCE:
        expected = "numbers"
        if num_layers is not None:
            expected = f"{num_layers} numbers"
        raise BiLmError(
            f"mixing weights: expected {expected}, one for each layer, not negative and of sum 1, "
            f"got {list(weights)}"
        )
    total = sum(weights)
    return [float(weight) / total for weight in weights]


def layer_numbers(layers: str | int | Sequence[int], num_layers: int) -> list[int]:
    """
    Returns the numbers of the layers that a learned mix weighs; 0 is the token layer.

    Raises `BiLmError` for anything but "all", "top", "token", a layer's number or a list of such
    numbers.
    """
    # "mean" and "sum" are no choice here, because the mix learns its weights.
    named = {"all": list(range(num_layers)), "top": [num_layers - 1], "token": [0]}
    if isinstance(layers, str) and layers in named:
        return named[layers]
    numbers: list[Any] = list(layers) if isinstance(layers, list | tuple) else [layers]
    are_layers = all(is_layer(number, num_layers) for number in numbers)
    if not are_layers or not numbers or len(set(numbers)) < len(numbers):
        raise BiLmError(
            f'layers: expected "all", "top", "token", a layer from 0 to {num_layers - 1} or a '
            f"list of different such layers, got {layers!r}"
        )
    return numbers


def is_layer(value: Any, num_layers: float) -> bool:
    """Returns whether a value is the number of one of the `num_layers` layers."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return 0 <= int(value) < num_layers
