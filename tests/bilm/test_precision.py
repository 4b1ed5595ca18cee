"""What every precision does, and which machine has which."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import PRECISIONS, BiLm, get_precision, int8, precision_on
from elmo_plugin.bilm import precision as precision_module
from elmo_plugin.bilm.precision import FLOAT32
from elmo_plugin.bilm.products import PackedLinear
from tests.bilm.conftest import BiLmMaker
from tests.bilm.paths import ComputePath, skip_if_not_here
from tests.close import ROUNDINGS, assert_near

# The largest error, relative to the largest number of the result.
TOLERANCES = {"float32": 1e-6, "bfloat16": 1e-2, "int8": 2e-2}
CPU = torch.device("cpu")
every_precision = pytest.mark.parametrize("precision", PRECISIONS)


def _pack(precision: str, weight: Tensor, bias: Tensor | None = None) -> PackedLinear:
    skip_if_not_here(ComputePath("product", precision, "cpu", 0.0))
    return PRECISIONS[precision].pack(weight, bias)


@every_precision
@pytest.mark.parametrize("rows", [0, 1, 2, 33])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("with_added", [True, False])
def test_a_product_equals_float64_within_its_precision(
    precision: str, rows: int, with_bias: bool, with_added: bool
) -> None:
    torch.manual_seed(0)
    weight, inputs = torch.randn(48, 40), torch.randn(rows, 40)
    bias = torch.randn(48) if with_bias else None
    linear = _pack(precision, weight, bias)
    dtype = PRECISIONS[precision].activation_dtype(weight)
    added = torch.randn(rows, 48).to(dtype) if with_added else None
    result = linear(inputs, added)  # in place of the bias
    expected = inputs.double() @ weight.double().t() + (
        added if with_added else bias if with_bias else 0
    )
    assert result.dtype == dtype and result.shape == (rows, 48)
    assert dtype == (torch.bfloat16 if precision == "bfloat16" else torch.float)
    largest = expected.abs().max().item() if rows else 1.0
    torch.testing.assert_close(
        result.double(), expected, rtol=0, atol=TOLERANCES[precision] * largest
    )


@every_precision
@pytest.mark.parametrize("with_added", [True, False])
def test_batched_products_equal_the_product_of_each_direction(
    precision: str, with_added: bool
) -> None:
    path = ComputePath("batched_directions", precision, "cpu", 0.0)
    skip_if_not_here(path)
    torch.manual_seed(0)
    weights, inputs = [torch.randn(16, 24) for _ in range(2)], torch.randn(2, 1, 24)
    dtype = PRECISIONS[precision].activation_dtype(weights[0])
    added = torch.randn(2, 1, 16).to(dtype) if with_added else None
    products = PRECISIONS[precision].pack_directions(weights)(inputs, added)
    for direction, weight in enumerate(weights):
        alone = _pack(precision, weight)(
            inputs[direction], added[direction] if added is not None else None
        )
        assert_near(products[direction].float(), alone.float())


@every_precision
def test_a_rows_product_does_not_depend_on_other_rows(precision: str) -> None:
    torch.manual_seed(0)
    inputs = torch.randn(7, 32) * torch.logspace(-3, 3, 7)[:, None]
    linear = _pack(precision, torch.randn(16, 32))
    in_one_batch = linear(inputs)
    # Sums are in float32. In bfloat16 only the result is rounded, perhaps to the next number.
    roundings = 1 if precision == "bfloat16" else ROUNDINGS
    for row in range(7):
        assert_near(linear(inputs[row : row + 1])[0], in_one_batch[row], roundings)


@pytest.mark.parametrize("spelling", ["bfloat16", "bf16", torch.bfloat16, "torch.bfloat16"])
def test_precisions_accept_the_spellings_of_other_libraries(spelling: str | torch.dtype) -> None:
    assert get_precision(spelling).name == "bfloat16"


@pytest.fixture
def older_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision_module, "has_bfloat16", lambda: False)
    monkeypatch.setattr(int8, "int8_is_exact", lambda: False)
    precision_module._warn_once.cache_clear()


@pytest.mark.usefixtures("older_processor")
@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
@pytest.mark.parametrize("recurrence", ["auto", "separate_directions", "batched_directions"])
def test_an_older_processor_computes_in_float32_with_one_warning(
    precision: str, recurrence: str, make_bilm: BiLmMaker, caplog: pytest.LogCaptureFixture
) -> None:
    bilm: BiLm = make_bilm().requires_grad_(False)
    bilm.recurrence = recurrence
    ids = bilm.character_ids([["The", "play", "ended"], ["Hello"]])
    expected, digest, embedded = bilm(ids).layers, bilm.digest(), bilm.embed([["The", "play"]])[0]
    bilm.precision = precision
    assert torch.equal(bilm(ids).layers, expected)
    assert torch.equal(bilm.embed([["The", "play"]])[0], embedded)
    assert bilm.digest() == digest, "a cache of float32's activations serves both"
    assert bilm.precision == precision, (
        "what is stored was asked for, and the next machine may have it"
    )
    (warning,) = caplog.messages
    assert warning.startswith(f"{precision} needs a CPU") and warning.endswith(
        "float32 is computed"
    )


@pytest.mark.usefixtures("older_processor")
def test_int8_runs_on_cpus_only_and_bfloat16_on_any_device() -> None:
    other = torch.device("meta")
    assert (
        precision_on(other, "int8") is FLOAT32
        and precision_on(other, "bfloat16").name == "bfloat16"
    )


@pytest.mark.slow
def test_environment_variables_that_forbid_newer_instructions_are_honoured() -> None:
    """
    As on a machine of AVX2: without VNNI instructions, a sum of 16 products of int8 was 0.126.
    """
    program = """
import torch
from elmo_plugin.bilm import BiLm
expected = BiLm.from_pretrained("tiny").encode("The play ended.").vectors
for precision in ("bfloat16", "int8"):
    bilm = BiLm.from_pretrained("tiny", precision)
    assert torch.equal(bilm.encode("The play ended.").vectors, expected), precision
"""
    older = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    environment = {**os.environ, **older, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    warnings = run.stderr.splitlines()
    assert len(warnings) == 2
    assert "bfloat16 needs" in warnings[0] and "int8 needs" in warnings[1]
