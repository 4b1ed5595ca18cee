import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm import precision as products
from elmo_plugin.bilm.precision import (
    PRECISIONS,
    PlainProduct,
    prepare_product,
    prepare_training_product,
    training_dtype,
)
from tests.bilm.paths import ComputePath, skip_if_not_here

# The largest error, relative to the largest number of the result.
TOLERANCES = {"float32": 1e-6, "bfloat16": 1e-2, "int8": 2e-2}
every_precision = pytest.mark.parametrize("precision", PRECISIONS)


def _product(precision: str, weight: Tensor, bias: Tensor | None, device: str = "cpu") -> products.Product:
    skip_if_not_here(ComputePath("product", precision, device, 0.0))
    return prepare_product(weight, bias, precision)


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
    product = _product(precision, weight, bias)
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float
    added = torch.randn(rows, 48).to(dtype) if with_added else None
    result = product(inputs, added)
    expected = (
        inputs.double() @ weight.double().t() + (0 if bias is None else bias) + (added if with_added else 0)
    )
    assert result.dtype == dtype and result.shape == (rows, 48)
    largest = expected.abs().max().item() if rows else 1.0
    torch.testing.assert_close(result.double(), expected, rtol=0, atol=TOLERANCES[precision] * largest)


@every_precision
def test_a_rows_result_does_not_depend_on_the_rows_beside_it(precision: str) -> None:
    torch.manual_seed(0)
    inputs = torch.randn(7, 32) * torch.logspace(-3, 3, 7)[:, None]
    product = _product(precision, torch.randn(16, 32), None)
    together = product(inputs)
    for row in range(7):
        torch.testing.assert_close(product(inputs[row : row + 1])[0], together[row], rtol=1e-5, atol=0)


@every_precision
def test_a_product_keeps_the_weight_it_was_made_with(precision: str) -> None:
    weight, bias, inputs = torch.randn(16, 32), torch.randn(16), torch.randn(3, 32)
    product = _product(precision, weight, bias)
    before = product(inputs)
    weight.zero_()
    bias.zero_()
    assert torch.equal(product(inputs), before)


@every_precision
def test_zeros_give_zeros(precision: str) -> None:
    assert not _product(precision, torch.zeros(16, 32), None)(torch.zeros(2, 32)).any()


def test_a_weight_of_another_type_is_multiplied_in_its_own() -> None:
    weight, inputs = torch.randn(6, 5).double(), torch.randn(4, 5).double()
    product = prepare_product(weight, None, "float32")
    assert isinstance(product, PlainProduct)
    torch.testing.assert_close(product(inputs), inputs @ weight.t())


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, not 'float8'"):
        prepare_product(torch.zeros(2, 2), None, "float8")


def test_a_machine_that_lacks_a_precision_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "has_bfloat16", lambda: False)
    monkeypatch.setattr(products, "has_int8", lambda: False)
    with pytest.raises(BiLmError, match="bfloat16 needs a CPU with bfloat16 instructions"):
        prepare_product(torch.zeros(2, 2), None, "bfloat16")
    with pytest.raises(BiLmError, match=r"int8 needs torch 2\.1"):
        prepare_product(torch.zeros(2, 2), None, "int8")
    with pytest.raises(BiLmError, match="int8 is for a CPU; the biLM is on the device meta"):
        prepare_product(torch.zeros(2, 2, device="meta"), None, "int8")


def test_without_onednn_float32_is_torchs_own_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "has_onednn", lambda: False)
    weight, inputs = torch.randn(6, 5), torch.randn(4, 5)
    product = prepare_product(weight, torch.ones(6), "float32")
    assert isinstance(product, PlainProduct)
    torch.testing.assert_close(product(inputs, torch.ones(4, 6)), inputs @ weight.t() + 2)


@pytest.mark.parametrize("dtype", [torch.double, torch.float, torch.bfloat16])
def test_a_product_for_training_has_the_type_that_is_asked_for(dtype: torch.dtype) -> None:
    if dtype == torch.bfloat16:
        skip_if_not_here(ComputePath("product", "bfloat16", "cpu", 0.0))
    torch.manual_seed(0)
    weight, inputs = torch.randn(48, 40, requires_grad=True), torch.randn(5, 40)
    product = prepare_training_product(weight, dtype)
    added = torch.randn(5, 48).to(dtype)
    expected = inputs.double() @ weight.detach().double().t()
    for result, wanted in ((product(inputs), expected), (product(inputs, added), expected + added)):
        assert result.dtype == dtype and not result.requires_grad
        tolerance = TOLERANCES["bfloat16" if dtype == torch.bfloat16 else "float32"]
        torch.testing.assert_close(result.double(), wanted, rtol=0, atol=tolerance * float(wanted.max()))


def test_a_weight_in_training_may_lie_in_memory_as_it_likes() -> None:
    weight, inputs = torch.randn(40, 48), torch.randn(5, 40)
    product = prepare_training_product(weight.t(), torch.float)
    torch.testing.assert_close(product(inputs), inputs @ weight)


def test_training_is_in_the_type_of_autocast_or_in_its_own() -> None:
    for own in (torch.float, torch.double):
        like = torch.zeros(1, dtype=own)
        assert training_dtype(like) == own
        with torch.autocast("cpu", torch.bfloat16):
            assert training_dtype(like) == torch.bfloat16
            with torch.autocast("cpu", enabled=False):
                assert training_dtype(like) == own
        assert training_dtype(like) == own
