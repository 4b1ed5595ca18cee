"""What differs by roundings is near, and nothing else is, whatever the size and the type of the numbers."""

import pytest
import torch

from tests.close import assert_near

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("of_float64", [False, True])
def test_the_largest_number_says_how_near(dtype: torch.dtype, size: float, of_float64: bool) -> None:
    expected = torch.tensor([size, 0.0, -size / 4], dtype=torch.double)
    unit = size * torch.finfo(dtype).eps
    wanted = expected if of_float64 else expected.to(dtype)
    for place in (0, 1):  # the largest number, and one that is zero
        actual = expected.clone()
        actual[place] += 4 * unit
        assert_near(actual.to(dtype), wanted, roundings=4)
        with pytest.raises(AssertionError, match="not close"):
            assert_near(actual.to(dtype), wanted, roundings=3)


def test_what_a_type_is_too_short_for_is_zero() -> None:
    assert_near(torch.zeros(2), torch.tensor([1e-60, 0.0], dtype=torch.double))
    with pytest.raises(AssertionError):
        assert_near(torch.zeros(2), torch.tensor([1e-40, 0.0], dtype=torch.double))


def test_all_tensors_of_a_nesting_are_compared() -> None:
    mask, vector = torch.tensor([True, False]), torch.ones(2)
    expected = (mask, {"a": [vector, vector]})
    assert_near(expected, expected)
    wrong_values = [(mask, {"a": [vector, 2 * vector]}), (~mask, {"a": [vector, vector]})]
    wrong_forms = [(mask,), (mask, {"b": [vector, vector]}), (mask, {"a": [vector]})]
    for wrong in [*wrong_values, *wrong_forms, (mask, {"a": [vector, vector.double()]})]:
        with pytest.raises(AssertionError):
            assert_near(wrong, expected)
