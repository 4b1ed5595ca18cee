import pytest
import torch

from elmo_plugin.common.json_tensor import json_from_tensor, json_to_tensor

CONTENT = {"source": "naïve/日本.json", "options": {"dim": 4096, "clip": None}, "layers": [0, 1, 2]}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.uint8])
def test_what_was_stored_is_read_whatever_type_its_numbers_have_taken(dtype: torch.dtype) -> None:
    assert json_from_tensor(json_to_tensor(CONTENT).to(dtype)) == CONTENT


def test_it_is_a_tensor_that_one_can_compute_with() -> None:
    stored = json_to_tensor(CONTENT)
    assert torch.nn.functional.mse_loss(stored, stored) == 0


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError):
        json_from_tensor(torch.zeros(3))
