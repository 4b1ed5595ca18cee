import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.integers import ceil_div, is_whole_number


@given(st.integers(0, 2**70), st.integers(1, 2**40))
def test_quotients_are_rounded_up(dividend: int, divisor: int) -> None:
    assert ceil_div(dividend, divisor) == math.ceil(Fraction(dividend, divisor))


@given(st.integers(0, 10**18 - 1))
def test_whole_numbers_are_texts_of_decimal_digits(number: int) -> None:
    assert is_whole_number(str(number))
    assert not is_whole_number(f"-{number}")
    assert not is_whole_number(f"{number}.0")


@pytest.mark.parametrize("text", ["", " 1", "1 ", "1\n", "one", "²", "9" * 5_000])
def test_other_texts_are_no_whole_numbers(text: str) -> None:
    assert not is_whole_number(text)
