"""Arithmetic of whole numbers."""


def ceil_div(dividend: int, divisor: int) -> int:
    """Returns the quotient, rounded up."""
    return (dividend + divisor - 1) // divisor
