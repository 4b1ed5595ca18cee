"""Our dropout drops and scales as torch's does, with masks of its own."""

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import Dropout


def ones(*shape: int) -> Tensor:
    return torch.ones(shape, requires_grad=True)


@pytest.mark.parametrize("p", [0.1, 0.2, 0.5, 0.9])
def test_values_are_dropped_at_the_given_rate_and_the_rest_are_scaled(p: float) -> None:
    torch.manual_seed(0)
    outputs = Dropout(p)(ones(300, 1001))
    torch.testing.assert_close(outputs.unique(), torch.tensor([0.0, 1 / (1 - p)]))
    standard_error = (p * (1 - p) / outputs.numel()) ** 0.5
    assert (outputs == 0).double().mean().item() == pytest.approx(p, abs=4 * standard_error)


def test_values_are_dropped_independently_of_their_neighbours() -> None:
    """Four of them come from one random number."""
    torch.manual_seed(0)
    dropped = (Dropout(0.5)(ones(1_000_000)) == 0).double() - 0.5
    for distance in range(1, 9):
        correlation = 4 * (dropped[:-distance] * dropped[distance:]).mean().item()
        assert abs(correlation) < 4 / 1_000


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (3,), (2, 5), (4, 1, 7)])
def test_the_gradient_goes_through_the_same_mask(shape: tuple[int, ...]) -> None:
    inputs = ones(*shape)
    outputs = Dropout(0.3)(inputs)
    outputs.sum().backward()
    assert outputs.shape == shape
    torch.testing.assert_close(inputs.grad, outputs.detach())


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (1.0, True), (0.5, False)])
def test_without_random_draws_dropout_equals_torchs(p: float, training: bool) -> None:
    inputs = torch.randn(4, 5)
    found, expected = Dropout(p).train(training), nn.Dropout(p).train(training)
    torch.testing.assert_close(found(inputs), expected(inputs), rtol=0, atol=0)
