from typing import Any

import pytest
import torch

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_tensor import json_from_tensor, json_to_tensor

CONTENT = {"source": "naïve/日本.json", "options": {"dim": 4096, "clip": None}, "layers": [0, 1, 2]}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.uint8])
def test_what_was_stored_is_read_whatever_type_its_numbers_have_taken(dtype: torch.dtype) -> None:
    assert json_from_tensor(json_to_tensor(CONTENT).to(dtype), "it") == CONTENT


def test_it_is_a_tensor_that_one_can_compute_with() -> None:
    stored = json_to_tensor(CONTENT)
    assert torch.nn.functional.mse_loss(stored, stored) == 0


@pytest.mark.parametrize("stored", [torch.zeros(3), torch.tensor([0.5]), torch.tensor([float("nan")]), "{}"])
def test_what_is_no_json_is_refused(stored: Any) -> None:
    with pytest.raises(BiLmError, match=r"^the state of x"):
        json_from_tensor(stored, "the state of x")
