"""The choice of a biLM's layers, checked and applied in one place."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from elmo_plugin.common.errors import BiLmError

Layers = str | int | Sequence[float]
LAYER_NAMES = ("all", "mean", "sum", "top", "token")
_ROUNDING = 0.01  # tolerance for the sum of weights, such as three times 0.333


def layer_numbers(layers: str | int | Sequence[int], num_layers: int) -> list[int]:
    """
    Returns the numbers of the layers that a learned mix weighs; 0 is the token layer.

    Raises `BiLmError` unless `layers` is "all", "top", "token", a layer's number or a list of such numbers.
    """
    named = {"all": list(range(num_layers)), "top": [num_layers - 1], "token": [0]}
    if isinstance(layers, str) and layers in named:
        return named[layers]
    numbers: list[Any] = list(layers) if isinstance(layers, list | tuple) else [layers]
    are_layers = all(type(number) is int and 0 <= number < num_layers for number in numbers)
    if not are_layers or not numbers or len(set(numbers)) < len(numbers):
        raise BiLmError(
            f'layers must be "all", "top", "token", a layer from 0 to {num_layers - 1} or a list of '
            f"different such layers, not {layers!r}"
        )
    return numbers


def check_layers(layers: Layers, num_layers: int | None = None) -> None:
    """
    Raises `BiLmError` unless `select_layers` accepts `layers`; `num_layers` is `None` as long as no biLM is
    loaded.
    """
    if isinstance(layers, str):
        is_valid = layers in LAYER_NAMES
    elif isinstance(layers, list | tuple):
        mixing_weights(layers, num_layers)
        return
    else:
        is_valid = type(layers) is int and layers >= 0 and (num_layers is None or layers < num_layers)
    if not is_valid:
        last = "" if num_layers is None else f" from 0 to {num_layers - 1}"
        raise BiLmError(
            f"layers must be {', '.join(LAYER_NAMES)}, a layer's number{last} or a weight for each layer, "
            f"not {layers!r}"
        )


def select_layers(vectors: Tensor, layers: Layers) -> Tensor:
    """
    Selects `layers` from the vectors of all layers, shape (num_layers, ..., dim).

    "all" returns all of them, "mean" and "sum" their plain average and sum, "top" and "token" the last and
    the first, a number that layer, and a list of weights, one for each layer, their weighted average. Except
    for "all", the shape is (..., dim).
    """
    check_layers(layers, len(vectors))
    if isinstance(layers, str):
        if layers == "all":
            return vectors
        if layers in ("mean", "sum"):
            return getattr(vectors, layers)(dim=0)
        return vectors[{"top": -1, "token": 0}[layers]]
    if isinstance(layers, int):
        return vectors[layers]
    weights = vectors.new_tensor(mixing_weights(layers, len(vectors)))
    return torch.tensordot(weights, vectors, dims=1)


def mixing_weights(weights: Sequence[float], num_layers: int | None = None) -> list[float]:
    """
    Returns weights of layers, divided by their sum.

    Raises `BiLmError` unless there is one for each layer, none is negative, and their sum is 1 but for
    rounding.
    """
    are_weights = all(isinstance(weight, int | float) and weight >= 0 for weight in weights)
    if not are_weights or len(weights) != (num_layers or len(weights)) or abs(sum(weights) - 1) > _ROUNDING:
        number = "" if num_layers is None else f"{num_layers} "
        raise BiLmError(
            f"mixing weights must be {number}numbers, one for each layer, not negative and of sum 1, "
            f"not {list(weights)}"
        )
    return [weight / sum(weights) for weight in weights]
