"""Which layers users can ask for, and what they get."""

from typing import Any

import numpy as np
import pytest
import torch

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.layers import check_layers, layer_numbers, select_layers

VECTORS = torch.arange(24.0).view(3, 2, 4)


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ("all", VECTORS),
        ("mean", (VECTORS[0] + VECTORS[1] + VECTORS[2]) / 3),
        ("top", VECTORS[2]),
        ("token", VECTORS[0]),
        (1, VECTORS[1]),
        (np.int64(1), VECTORS[1]),
        ([0.5, 0, 0.5], (VECTORS[0] + VECTORS[2]) / 2),
        ([0.333, 0.333, 0.333], VECTORS[1]),
        (np.array([0.5, 0, 0.5], "float32"), (VECTORS[0] + VECTORS[2]) / 2),
        (list(np.array([0.5, 0, 0.5], "float32")), (VECTORS[0] + VECTORS[2]) / 2),
        (torch.tensor([0.5, 0, 0.5], requires_grad=True), (VECTORS[0] + VECTORS[2]) / 2),
    ],
)
def test_layers_are_selected_by_name_number_or_weights(layers: Any, expected: torch.Tensor) -> None:
    check_layers(layers)
    torch.testing.assert_close(select_layers(VECTORS, layers), expected)


@pytest.mark.parametrize(
    "layers",
    ["average", 3, -1, True, None, 1.0, [1.0], [0, 0, 2], [-1, 1, 1], ["a"] * 3, np.eye(3)],
)
def test_other_layers_are_rejected(layers: Any) -> None:
    with pytest.raises(BiLmError, match=r"layers: expected|mixing weights: expected 3 numbers"):
        select_layers(VECTORS, layers)


@pytest.mark.parametrize(
    ("layers", "numbers"),
    [("all", [0, 1, 2]), ("top", [2]), ("token", [0]), (np.int64(1), [1]), ([2, 0], [2, 0])],
)
def test_layers_of_a_mix_are_given_by_number(layers: Any, numbers: list[int]) -> None:
    assert layer_numbers(layers, 3) == numbers


@pytest.mark.parametrize("layers", ["mean", 3, -1, [], [0, 0], [0, 3], True, 1.0, None])
def test_a_mix_of_missing_layers_is_rejected(layers: Any) -> None:
    with pytest.raises(
        BiLmError, match='layers: expected "all", "top", "token", a layer from 0 to 2 or a list'
    ):
        layer_numbers(layers, 3)
