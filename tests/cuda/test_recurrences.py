"""Every recurrence, in every kind of number, against the plain formulas in float64 on the CPU."""

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmOutput, sentences_to_character_ids
from tests.bilm.paths import ComputePath, skip_if_not_here
from tests.cuda.language_model import medium_bilm

SENTENCES = [
    sentence.split()
    for sentence in (
        "the cat sat on the mat .",
        "a dog ran",
        "why did the cat run away ?",
        ".",
        "the cat sat on the mat .",
        "so it rained , and rained , and it went on and on until the mat and the cat and the dogs were wet .",
    )
]


class Numbers(NamedTuple):
    """
    autocast: the type of products while a biLM is trained
    tolerance: the largest difference, of the largest activation
    """

    recurrence: str
    precision: str
    tolerance: float
    tf32: bool = False
    autocast: torch.dtype | None = None

    def __str__(self) -> str:
        kind = "tf32" if self.tf32 else str(self.autocast or self.precision).removeprefix("torch.")
        return f"{self.recurrence}-{kind}"


EXACT, TF32, BFLOAT16, FLOAT16 = 1e-5, 5e-3, 4e-2, 5e-3
NUMBERS = [
    *(
        Numbers(name, "float32", EXACT)
        for name in ("reference", "training", "sequential", "batched_directions")
    ),
    Numbers("training", "float32", TF32, tf32=True),
    Numbers("batched_directions", "float32", TF32, tf32=True),
    Numbers("batched_directions", "bfloat16", BFLOAT16),
    Numbers("training", "float32", BFLOAT16, autocast=torch.bfloat16),
    Numbers("training", "float32", FLOAT16, autocast=torch.float16),
]


@pytest.fixture(scope="module")
def expected() -> BiLmOutput:
    bilm = medium_bilm().double().requires_grad_(False)
    bilm.recurrence = "reference"
    return bilm(_ids("cpu"), keep_state=True)


def _ids(device: str) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids(SENTENCES)).to(device)


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_activations_and_states_are_those_of_float64(
    numbers: Numbers, device: str, expected: BiLmOutput, allow_tf32: Callable[[bool], None]
) -> None:
    skip_if_not_here(ComputePath(numbers.recurrence, numbers.precision, device, 0.0))
    allow_tf32(numbers.tf32)
    bilm = deepcopy(medium_bilm()).to(device).requires_grad_(numbers.autocast is not None)
    bilm.recurrence, bilm.precision = numbers.recurrence, numbers.precision
    with torch.autocast(device, numbers.autocast, enabled=numbers.autocast is not None):
        output = bilm(_ids(device), keep_state=True)
    assert output.layers.device.type == device and output.layers.dtype == torch.float
    assert torch.equal(output.mask.cpu(), expected.mask)
    assert output.state is not None and expected.state is not None
    pairs = zip((output.layers, *output.state), (expected.layers, *expected.state), strict=True)
    for found, right in pairs:
        difference = (found.detach().cpu().double() - right).abs().max()
        assert difference <= numbers.tolerance * right.abs().max()
