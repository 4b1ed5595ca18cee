"""
Reads numpy's numbers in files of torch. numpy's own functions would make types of any size, and
read descriptions of types of any length.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBERS = np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"
_CODES = {np.dtype(code).str[1:] for code in _NUMBERS}  # such as f8
_NATIVE = ("<", "|", "=")


class NumberType:
    """Stands for numpy's type of a number, which a file describes by its code, such as f8."""

    # A pickled type has the arguments of `numpy.dtype`; the last two do not matter to a number.
    def __init__(self, code: str, align: bool = False, copy: bool = False) -> None:
        if not isinstance(code, str) or code not in _CODES:
            raise ValueError("expected the type of a number")
        self.code = code

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """
        Takes the state that numpy gives a pickled type. Raises `ValueError` for another order of
        bytes than this machine's.
        """
        byte_order = state[1]  # behind the version of this state
        if byte_order not in _NATIVE:
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
