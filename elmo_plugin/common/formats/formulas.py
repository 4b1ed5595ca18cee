"""Texts in CSV that a spreadsheet would take for formulas."""

from collections.abc import Iterable
from pathlib import Path

from elmo_plugin.common.logs import get_logger

logger = get_logger(__name__)

_FIRST_CHARACTERS = ("=", "+", "-", "@", "\t", "\r")


def count_formulas(cells: Iterable[object]) -> int:
    """Returns the number of texts that a spreadsheet would compute when it opens them."""
    return sum(1 for cell in cells if _is_formula(cell))


def _is_formula(cell: object) -> bool:
    """Returns whether a cell begins as formulas do, and is neither a number nor a lone sign."""
    if not isinstance(cell, str) or not cell.startswith(_FIRST_CHARACTERS) or len(cell) == 1:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False  # a number, such as -1.5


def warn_of_formulas(file: str | Path, num_formulas: int) -> None:
    """
    Warns of texts in a file that begin as formulas do, if it has any. They are written without
    changes, because programs read the file.
    """
    if num_formulas:
        logger.warning(
            "%s: texts that begin with =, +, - or @ are formulas to a spreadsheet (%d of them): "
            "import its columns as text",
            file,
            num_formulas,
        )
