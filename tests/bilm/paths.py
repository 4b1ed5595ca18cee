"""Every way in which a biLM can compute, and how far it may be from the published numbers."""

from collections.abc import Iterable
from typing import NamedTuple

import pytest
import torch
from _pytest.mark import ParameterSet

from elmo_plugin.bilm import PRECISIONS, BiLm
from elmo_plugin.bilm.int8 import can_multiply_int8_row


class ComputePath(NamedTuple):
    """
    tolerance: the largest absolute difference that activations may have; the clip keeps them below
        3
    """

    recurrence: str
    precision: str
    device: str
    tolerance: float

    def __str__(self) -> str:
        return "-".join(self[:3])


PATHS = [
    ComputePath("reference", "float32", "cpu", 2e-6),
    ComputePath("training", "float32", "cpu", 2e-6),
    ComputePath("separate_directions", "float32", "cpu", 2e-6),
    ComputePath("separate_directions", "bfloat16", "cpu", 2e-2),
    ComputePath("separate_directions", "int8", "cpu", 6e-2),
    ComputePath("batched_directions", "float32", "cpu", 2e-6),
    ComputePath("batched_directions", "bfloat16", "cpu", 2e-2),
    ComputePath("batched_directions", "int8", "cpu", 6e-2),
    ComputePath("training", "float32", "cuda", 1e-5),
    ComputePath("batched_directions", "float32", "cuda", 1e-5),
    ComputePath("batched_directions", "bfloat16", "cuda", 2e-2),
]


def with_marks(paths: Iterable[ComputePath]) -> list[ParameterSet]:
    """The paths as parameters of a test; those on a GPU are marked `cuda`."""
    return [
        pytest.param(path, id=str(path), marks=[pytest.mark.cuda] * (path.device == "cuda"))
        for path in paths
    ]


every_path = pytest.mark.parametrize("path", with_marks(PATHS))


def skip_if_not_here(path: ComputePath) -> None:
    """Skips the test, by the path's name, where the machine cannot take it."""
    lacking = PRECISIONS[path.precision].missing_on(torch.device(path.device))
    if path[:2] == ("batched_directions", "int8") and not can_multiply_int8_row():
        lacking = "a torch that multiplies a row of 8-bit integers"
    if lacking:
        pytest.skip(f"the path {path} needs {lacking}")


def take(bilm: BiLm, path: ComputePath) -> BiLm:
    """The biLM, frozen, so that it takes the path."""
    skip_if_not_here(path)
    bilm = bilm.to(path.device).requires_grad_(False)
    bilm.recurrence, bilm.precision = path.recurrence, path.precision
    return bilm
