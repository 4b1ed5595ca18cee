"""Every way in which a biLM can compute, and how far it may be from the published numbers."""

from collections.abc import Iterable
from typing import NamedTuple

import pytest
from _pytest.mark import ParameterSet

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.int8 import has_int8, has_int8_row, int8_is_exact
from elmo_plugin.bilm.precision import has_bfloat16


class ComputePath(NamedTuple):
    """
    tolerance: the largest absolute difference that activations may have; the clip keeps them below 3
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
    ComputePath("sequential", "float32", "cpu", 2e-6),
    ComputePath("sequential", "bfloat16", "cpu", 2e-2),
    ComputePath("sequential", "int8", "cpu", 6e-2),
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
        pytest.param(path, id=str(path), marks=[pytest.mark.cuda] * (path.device == "cuda")) for path in paths
    ]


every_path = pytest.mark.parametrize("path", with_marks(PATHS))


def skip_if_not_here(path: ComputePath) -> None:
    """Skips the test, by the path's name, where the machine cannot take it."""
    lacks = {
        "a CPU with bfloat16 instructions": path.device == "cpu"
        and path.precision == "bfloat16"
        and not has_bfloat16(),
        "a torch with oneDNN's 8-bit products": path.precision == "int8" and not has_int8(),
        "a CPU with exact products of 8-bit integers": path.precision == "int8" and not int8_is_exact(),
        "a torch that multiplies a row of 8-bit integers": path.precision == "int8"
        and path.recurrence == "batched_directions"
        and not has_int8_row(),
    }
    for what, is_lacking in lacks.items():
        if is_lacking:
            pytest.skip(f"the path {path} needs {what}")


def take(bilm: BiLm, path: ComputePath) -> BiLm:
    """The biLM, frozen, so that it takes the path."""
    skip_if_not_here(path)
    bilm = bilm.to(path.device).requires_grad_(False)
    bilm.recurrence, bilm.precision = path.recurrence, path.precision
    return bilm
