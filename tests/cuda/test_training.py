"""Gradients of a biLM against those of float64 on the CPU, and what a training step waits for."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.cuda.language_model import LanguageModel, Window, random_windows
from tests.cuda.waits import counted_waits

# Whether TF32 is allowed, autocast's type, and the norm of a difference relative to that of its
# gradient. A rounding may change which window of a filter has the largest value, and with it where
# a gradient goes.
KINDS = {
    "float32": (False, None, 1e-4),
    "tf32": (True, None, 5e-2),
    "bfloat16": (False, torch.bfloat16, 2e-1),
    "float16": (False, torch.float16, 1e-1),
}


def _gradients(
    windows: list[Window],
    device: str,
    dtype: torch.dtype = torch.float,
    autocast: torch.dtype | None = None,
) -> tuple[list[float], dict[str, Tensor]]:
    """
    The loss of each window, and the gradients of all; each window goes on from the one before.
    """
    torch.manual_seed(0)
    model = LanguageModel().to(device, dtype)
    losses = []
    for window in windows:
        with torch.autocast(device, autocast, enabled=autocast is not None):
            loss = model(window.to(device, torch.double))
        (128 * loss).backward()  # float16 has no small numbers
        losses.append(loss.item())
    return losses, {name: each.grad.cpu().double() / 128 for name, each in model.named_parameters()}


@pytest.fixture(scope="module")
def windows() -> list[Window]:
    return random_windows(2, batch=3, steps=8)


@pytest.fixture(scope="module")
def expected(windows: list[Window]) -> tuple[list[float], dict[str, Tensor]]:
    return _gradients(windows, "cpu", torch.double)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_and_gradients_equal_float64(
    kind: str,
    device: str,
    windows: list[Window],
    expected: tuple[list[float], dict[str, Tensor]],
    allow_tf32: Callable[[bool], None],
) -> None:
    tf32, autocast, tolerance = KINDS[kind]
    allow_tf32(tf32)
    losses, gradients = _gradients(windows, device, autocast=autocast)
    assert losses == pytest.approx(expected[0], rel=tolerance)
    for name, right in expected[1].items():
        assert right.abs().max() > 0, name
        assert (gradients[name] - right).norm() <= tolerance * right.norm(), name


def test_synchronizations_do_not_grow_with_the_number_of_time_steps(device: str) -> None:
    model = LanguageModel().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    found = []
    for steps in (4, 4, 24):
        (window,) = (
            each.to(device, torch.double) for each in random_windows(1, batch=3, steps=steps)
        )
        with counted_waits(device) as waits:
            optimizer.zero_grad()
            model(window).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        found.append(waits)
    assert len(found[1]) == len(found[2]) <= 4, found
