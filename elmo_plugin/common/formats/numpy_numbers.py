"""
Reads numpy's numbers in files of torch. numpy's own functions would make types of any size, and
read descriptions of types of any length.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBERS = np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"
_CODES = {np.dtype(code).str[1:] for code in _NUMBERS}  # such as f8
if sys.byteorder == "little":
    _NATIVE_ORDER = "<"
else:
    _NATIVE_ORDER = ">"
# The orders of bytes that numpy writes for numbers that this machine can read: its own, and for
# numbers of one byte none.
_READABLE_ORDERS = (_NATIVE_ORDER, "=", "|")


class NumberType:
    """Stands for numpy's type of a number, which a file describes by its code, such as f8."""

    # A pickled type has the arguments of `numpy.dtype`; the last two do not matter to a number.
    def __init__(self, code: str, align: bool = False, copy: bool = False) -> None:
        if not isinstance(code, str) or code not in _CODES:
            raise ValueError("expected the type of a number")
        self.code = code

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """
        Checks the state that numpy stores with a type. Raises `ValueError` if the bytes of its
        numbers have another order than this machine's. The rest of the state is about types with
        fields, and does not matter to a number.
        """
        _version, byte_order, *_ = state
        if byte_order not in _READABLE_ORDERS:
            raise ValueError("expected a number in the order of bytes of this machine")


def read_number(number_type: NumberType, content: bytes) -> np.generic:
    """Returns a number. Raises `ValueError` unless its bytes are one number."""
    (number,) = np.frombuffer(content, np.dtype(number_type.code))
    return number


SAFE_GLOBALS: list[tuple[Callable[..., Any], str]] = [
    (NumberType, "numpy.dtype"),
    (read_number, "numpy.core.multiarray.scalar"),
    (read_number, "numpy._core.multiarray.scalar"),
]
"""What torch calls for the names that files have for numpy's types and numbers."""
