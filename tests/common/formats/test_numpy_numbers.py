"""A type of numbers is read if this machine can read the bytes of such numbers."""

import numpy as np
import pytest

from elmo_plugin.common.formats.numpy_numbers import NumberType


@pytest.mark.parametrize("code", ["f8", "i4", "u1", "b1"])
def test_a_type_of_this_machine_is_accepted(code: str) -> None:
    _, _, state = np.dtype(code).__reduce__()
    NumberType(code).__setstate__(state)


@pytest.mark.parametrize("code", ["f8", "i4"])
def test_the_opposite_order_of_bytes_is_refused(code: str) -> None:
    _, _, state = np.dtype(code).newbyteorder("S").__reduce__()
    with pytest.raises(ValueError, match="order of bytes"):
        NumberType(code).__setstate__(state)
