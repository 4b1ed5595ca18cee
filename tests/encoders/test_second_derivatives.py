"""Recurrences have no second derivatives: a penalty on their gradients is refused, not silently wrong."""

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.encoders import BidirectionalGru, HighwayLstm, VariationalBiLstm

INPUT_SIZE = 5
ENCODERS = [
    (VariationalBiLstm(INPUT_SIZE, [4]), "LstmRecurrence"),
    (BidirectionalGru(INPUT_SIZE, 4), "GruRecurrence"),
    (HighwayLstm(INPUT_SIZE, 4, num_layers=2), "HighwayRecurrence"),
]


@pytest.mark.parametrize(("encoder", "name"), ENCODERS)
def test_a_penalty_on_gradients_is_refused(encoder: nn.Module, name: str) -> None:
    inputs, mask = torch.randn(2, 3, INPUT_SIZE, requires_grad=True), torch.ones(2, 3, dtype=torch.bool)
    outputs = encoder(inputs, mask)
    with pytest.raises(NotImplementedError, match=f"{name} does not support .*create_graph=True"):
        torch.autograd.grad(outputs.sum(), inputs, create_graph=True)


@pytest.mark.parametrize(("encoder", "name"), ENCODERS)
def test_a_hessian_is_refused(encoder: nn.Module, name: str) -> None:
    mask = torch.ones(1, 2, dtype=torch.bool)

    def total(inputs: Tensor) -> Tensor:
        return encoder(inputs, mask).sum()

    with pytest.raises(NotImplementedError, match=f"{name} does not support second derivatives"):
        torch.autograd.functional.hessian(total, torch.randn(1, 2, INPUT_SIZE))
