"""What every precision does, and which machine has which."""

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import PRECISIONS, BiLmError, get_precision, int8
from elmo_plugin.bilm import precision as precision_module
from elmo_plugin.bilm.precision import PackedLinear
from tests.bilm.paths import ComputePath, skip_if_not_here
from tests.close import ROUNDINGS, assert_near

# The largest error, relative to the largest number of the result.
TOLERANCES = {"float32": 1e-6, "bfloat16": 1e-2, "int8": 2e-2}
CPU = torch.device("cpu")
every_precision = pytest.mark.parametrize("precision", PRECISIONS)


def _pack(precision: str, weight: Tensor, bias: Tensor | None = None) -> PackedLinear:
    skip_if_not_here(ComputePath("product", precision, "cpu", 0.0))
    PRECISIONS[precision].check(weight.device)
    return PRECISIONS[precision].pack(weight, bias)


@every_precision
@pytest.mark.parametrize("rows", [0, 1, 2, 33])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("with_added", [True, False])
def test_a_product_is_that_of_float64_within_its_precision(
    precision: str, rows: int, with_bias: bool, with_added: bool
) -> None:
    torch.manual_seed(0)
    weight, inputs = torch.randn(48, 40), torch.randn(rows, 40)
    bias = torch.randn(48) if with_bias else None
    linear = _pack(precision, weight, bias)
    dtype = PRECISIONS[precision].activation_dtype(weight)
    added = torch.randn(rows, 48).to(dtype) if with_added else None
    result = linear(inputs, added)
    expected = (
        inputs.double() @ weight.double().t() + (0 if bias is None else bias) + (added if with_added else 0)
    )
    assert result.dtype == dtype and result.shape == (rows, 48)
    assert dtype == (torch.bfloat16 if precision == "bfloat16" else torch.float)
    largest = expected.abs().max().item() if rows else 1.0
    torch.testing.assert_close(result.double(), expected, rtol=0, atol=TOLERANCES[precision] * largest)


@every_precision
@pytest.mark.parametrize("with_added", [True, False])
def test_the_products_of_several_directions_are_those_of_each(precision: str, with_added: bool) -> None:
    path = ComputePath("batched_directions", precision, "cpu", 0.0)
    skip_if_not_here(path)
    torch.manual_seed(0)
    weights, inputs = [torch.randn(16, 24) for _ in range(2)], torch.randn(2, 1, 24)
    dtype = PRECISIONS[precision].activation_dtype(weights[0])
    added = torch.randn(2, 1, 16).to(dtype) if with_added else None
    out = torch.empty(2, 1, 16)
    PRECISIONS[precision].pack_directions(weights)(inputs, out, added)
    for direction, weight in enumerate(weights):
        alone = _pack(precision, weight)(inputs[direction], added[direction] if added is not None else None)
        assert_near(out[direction], alone.float())


@every_precision
def test_a_rows_result_does_not_depend_on_the_rows_next_to_it(precision: str) -> None:
    torch.manual_seed(0)
    inputs = torch.randn(7, 32) * torch.logspace(-3, 3, 7)[:, None]
    linear = _pack(precision, torch.randn(16, 32))
    in_one_batch = linear(inputs)
    # Sums are in float32. In bfloat16 only the result is rounded, perhaps to the next number.
    roundings = 1 if precision == "bfloat16" else ROUNDINGS
    for row in range(7):
        assert_near(linear(inputs[row : row + 1])[0], in_one_batch[row], roundings)


@every_precision
def test_a_packed_weight_keeps_its_values(precision: str) -> None:
    weight, bias, inputs = torch.randn(16, 32), torch.randn(16), torch.randn(3, 32)
    linear = _pack(precision, weight, bias)
    before = linear(inputs)
    weight.zero_()
    bias.zero_()
    assert torch.equal(linear(inputs), before)


@every_precision
def test_zeros_give_zeros(precision: str) -> None:
    assert not _pack(precision, torch.zeros(16, 32))(torch.zeros(2, 32)).any()


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, got 'float8'"):
        get_precision("float8")


@pytest.mark.parametrize("spelling", ["bfloat16", "bf16", torch.bfloat16, "torch.bfloat16"])
def test_precisions_have_the_spellings_of_other_libraries(spelling: str | torch.dtype) -> None:
    assert get_precision(spelling).name == "bfloat16"


def test_a_machine_that_lacks_a_precision_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision_module, "has_bfloat16", lambda: False)
    monkeypatch.setattr(int8, "has_int8", lambda: False)
    with pytest.raises(BiLmError, match="it needs a CPU with bfloat16 instructions") as error:
        PRECISIONS["bfloat16"].check(CPU)
    assert "int8" not in str(error.value), "this machine may not have that either"
    with pytest.raises(BiLmError, match=r"int8 needs torch 2\.1"):
        PRECISIONS["int8"].check(CPU)
    with pytest.raises(BiLmError, match="int8 is supported on CPU only; the biLM is on the device meta"):
        PRECISIONS["int8"].check(torch.device("meta"))
    PRECISIONS["float32"].check(CPU)
