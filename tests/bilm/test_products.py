"""Products without oneDNN, those of training, and signals that arrive during a product."""

import subprocess
import sys

import pytest
import torch

from elmo_plugin.bilm import products
from elmo_plugin.bilm.products import autocast_dtype, multiply, pack_for_training


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.double, 1e-6), (torch.float, 1e-6), (torch.bfloat16, 1e-2)]
)
def test_a_training_product_returns_the_requested_type(
    dtype: torch.dtype, tolerance: float
) -> None:
    """
    On every machine: autocast asks for bfloat16 also where the CPU has no instructions for it.
    """
    torch.manual_seed(0)
    weight, inputs = torch.randn(48, 40, requires_grad=True), torch.randn(5, 40)
    linear = pack_for_training(weight, dtype)
    added = torch.randn(5, 48).to(dtype)
    expected = inputs.double() @ weight.detach().double().t()
    for result, wanted in ((linear(inputs), expected), (linear(inputs, added), expected + added)):
        assert result.dtype == dtype and not result.requires_grad
        torch.testing.assert_close(
            result.double(), wanted, rtol=0, atol=tolerance * float(wanted.max())
        )


def test_training_uses_the_type_of_autocast_or_of_the_parameters() -> None:
    for own in (torch.float, torch.double):
        like = torch.zeros(1, dtype=own)
        assert autocast_dtype(like) == own
        with torch.autocast("cpu", torch.bfloat16):
            assert autocast_dtype(like) == torch.bfloat16
            with torch.autocast("cpu", enabled=False):
                assert autocast_dtype(like) == own
        assert autocast_dtype(like) == own


MULTIPLY_UNDER_SIGNALS = """
import signal, time, torch
from elmo_plugin.bilm import PRECISIONS

torch.set_num_threads(1)
signal.signal(signal.SIGALRM, lambda *_: None)
shapes = [(64, 512, 128), (64, 128, 2048), (64, 256, 1024)]
inputs = [torch.randn(rows, size) for rows, size, _ in shapes]
linears = [PRECISIONS["float32"].pack(torch.randn(outputs, size), None) for _, size, outputs in shapes]
expected = [linear(given) for linear, given in zip(linears, inputs)]
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
end = time.process_time() + 8
while time.process_time() < end:
    for linear, given, result in zip(linears, inputs, expected):
        assert torch.equal(linear(given), result)
signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no interval timers")
def test_signals_during_products_do_not_corrupt_the_heap() -> None:
    """Without an alternate stack a product is wrong, or the process ends with "corrupted size"."""
    run = subprocess.run(
        [sys.executable, "-c", MULTIPLY_UNDER_SIGNALS], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("is_intels", [False, True])
@pytest.mark.parametrize("left_is_transposed", [False, True])
@pytest.mark.parametrize("right_is_transposed", [False, True])
def test_matrices_of_any_layout_are_multiplied_on_any_processor(
    is_intels: bool,
    left_is_transposed: bool,
    right_is_transposed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(products, "_is_intel_processor", lambda: is_intels)
    generator = torch.Generator().manual_seed(3)
    left = torch.randn(70, 40, generator=generator)[:, :30]
    right = torch.randn(30, 50, generator=generator)
    if left_is_transposed:
        left = torch.randn(30, 70, generator=generator).t()
    if right_is_transposed:
        right = torch.randn(50, 30, generator=generator).t()
    torch.testing.assert_close(multiply(left, right), (left.double() @ right.double()).float())
