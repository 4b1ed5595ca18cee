"""Machines whose products of 8-bit integers overflow are found out, and refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError, int8
from tests.bilm.conftest import BiLmMaker

PROGRAM = """
import torch
from elmo_plugin.bilm import PRECISIONS, BiLmError
try:
    PRECISIONS["int8"].check(torch.device("cpu"))
except BiLmError:
    print("refused")
else:
    ones = torch.ones(16, 16)
    print(PRECISIONS["int8"].pack(ones, None)(ones[:1])[0, 0].item())
"""


@pytest.mark.slow
def test_without_vnni_instructions_int8_is_refused_or_right() -> None:
    """A sum of 16 products is 16; where they overflow it was 0.126."""
    repository = Path(__file__).parents[2]
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONPATH": str(repository)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    result = run.stdout.strip()
    assert result == "refused" or float(result) == pytest.approx(16, rel=1e-5), run.stderr


def test_where_products_overflow_the_bilm_refuses_and_does_not_advise_int8(
    make_bilm: BiLmMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(int8, "has_int8", lambda: True)
    monkeypatch.setattr(int8, "int8_is_exact", lambda: False)
    bilm: BiLm = make_bilm().requires_grad_(False)
    ids = torch.ones(1, 1, 50, dtype=torch.long)
    for recurrence in ("auto", "sequential", "batched_directions"):
        bilm.recurrence = recurrence
        with pytest.raises(BiLmError, match="on this one they overflow; use float32"):
            bilm(ids, precision="int8")


@pytest.mark.skipif(not int8.has_int8(), reason="needs a torch with oneDNN's 8-bit products")
def test_the_machine_is_tested_with_the_products_that_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight whose products are wrong makes the answer no."""
    is_exact = int8.int8_is_exact.__wrapped__
    monkeypatch.setattr(int8.Int8Linear, "__call__", lambda linear, inputs, added=None: inputs[:, :16])
    assert not is_exact()
