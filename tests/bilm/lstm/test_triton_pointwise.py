"""Triton's interpreter runs the kernel on a CPU; it has to be chosen before Triton is imported."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm.lstm import triton_pointwise
from elmo_plugin.bilm.lstm.pointwise import lstm_pointwise
from elmo_plugin.bilm.lstm.triton_pointwise import (
    BLOCK,
    triton_is_available,
    triton_lstm_pointwise,
)

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")
DEVICE = "cpu" if INTERPRETED else "cuda"
runs_the_kernel = pytest.mark.skipif(
    not INTERPRETED and not torch.cuda.is_available(),
    reason="needs a GPU; test_the_kernel_in_the_interpreter runs it in a process of its own",
)


@needs_triton
@pytest.mark.skipif(INTERPRETED, reason="this is the interpreter's process")
def test_the_kernel_in_the_interpreter() -> None:
    tests = [Path(__file__), Path(__file__).with_name("test_together.py")]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "kernel", *map(str, tests)]
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_triton_is_not_for_tensors_on_a_cpu() -> None:
    assert not triton_is_available(torch.zeros(1, 1))


@needs_triton
def test_a_triton_that_does_not_work_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("no C compiler")

    monkeypatch.setattr(triton_pointwise, "triton_lstm_pointwise", fail)
    with pytest.warns(UserWarning, match="no C compiler"):
        assert not triton_pointwise._triton_works_on.__wrapped__(torch.device("cpu"))


@needs_triton
@runs_the_kernel
@pytest.mark.parametrize("dtype", [torch.float, torch.bfloat16])
@pytest.mark.parametrize("cell_clip", [None, 1, 100.0])
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, BLOCK), (2, 2, BLOCK + 3), (1, 1, 1)])
def test_the_kernel_equals_plain_torch(
    shape: tuple[int, ...], cell_clip: float | None, dtype: torch.dtype
) -> None:
    torch.manual_seed(4)
    *rows, dim = shape
    gates = 3 * torch.randn(*rows, 4 * dim, device=DEVICE).to(dtype)
    cell = 2 * torch.randn(*rows, dim, device=DEVICE)
    expected_cell = cell.clone()
    expected = lstm_pointwise(gates.clone(), expected_cell, cell_clip)
    activated = triton_lstm_pointwise(gates, cell, cell_clip)
    assert activated.shape == shape and activated.dtype == dtype
    torch.testing.assert_close(cell, expected_cell, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(
        activated, expected, rtol=2**-7 if dtype == torch.bfloat16 else 1e-5, atol=1e-6
    )


@needs_triton
@runs_the_kernel
def test_the_kernel_reads_and_writes_views_of_larger_tensors_in_their_place() -> None:
    torch.manual_seed(5)
    all_gates, all_cells = torch.randn(2, 9, 4 * 6, device=DEVICE), torch.randn(2, 5, 6, device=DEVICE)
    gates, cell = all_gates[:, 4:7], all_cells[:, :3]
    expected_cells = all_cells.clone()
    expected = lstm_pointwise(gates.clone(), expected_cells[:, :3], 0.5)
    torch.testing.assert_close(triton_lstm_pointwise(gates, cell, 0.5), expected)
    torch.testing.assert_close(all_cells, expected_cells)


@needs_triton
@runs_the_kernel
def test_the_clip_of_the_kernel_lets_nan_through() -> None:
    cell = torch.tensor([[float("nan")]], device=DEVICE)
    activated = triton_lstm_pointwise(torch.zeros(1, 4, device=DEVICE), cell, 3.0)
    assert cell.isnan().all() and activated.isnan().all()
