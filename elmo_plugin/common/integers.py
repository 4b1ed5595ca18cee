"""Whole numbers: their arithmetic, and texts that are such numbers."""

import re

DIGITS = r"\d{1,18}"
"""The digits of a place or a count in a file. `int` would raise errors for thousands of digits."""
_WHOLE_NUMBER = re.compile(DIGITS)


def ceil_div(dividend: int, divisor: int) -> int:
    """Returns the quotient, rounded up."""
    return (dividend + divisor - 1) // divisor


def is_whole_number(text: str) -> bool:
    """Returns whether a text is a whole number without a sign. `int` reads all such numbers."""
    return _WHOLE_NUMBER.fullmatch(text) is not None
