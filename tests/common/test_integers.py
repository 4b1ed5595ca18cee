import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.integers import ceil_div


@given(st.integers(0, 2**70), st.integers(1, 2**40))
def test_quotients_are_rounded_up(dividend: int, divisor: int) -> None:
    assert ceil_div(dividend, divisor) == math.ceil(Fraction(dividend, divisor))
