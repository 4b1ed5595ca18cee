"""Whole numbers: their arithmetic, and texts that are such numbers."""

import re

DIGITS = r"\d{1,18}"
"""The digits of a place or a count in a file. `int` would raise errors for thousands of digits."""
_WHOLE_NUMBER = re.compile(DIGITS)
_COLUMN_NUMBER = re.compile(f"-?{DIGITS}")


def ceil_div(dividend: int, divisor: int) -> int:
    """Returns the quotient, rounded up."""
    return (dividend + divisor - 1) // divisor


def is_whole_number(text: str) -> bool:
    """Returns whether a text is a whole number without a sign. `int` reads all such numbers."""
    return _WHOLE_NUMBER.fullmatch(text) is not None


def is_column_number(text: str) -> bool:
    """Returns whether a column is given by its number, not by its name; -1 is the last column."""
    return _COLUMN_NUMBER.fullmatch(text) is not None
