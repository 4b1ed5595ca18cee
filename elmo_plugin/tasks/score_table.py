"""The table of figures that `elmo score` prints."""

from collections.abc import Mapping, Sequence
from typing import Any

_MIN_COLUMN_WIDTH = 8


def figures_table(figures: Mapping[str, Any]) -> list[str]:
    """
    Returns the figures of a scorer as lines to print. Groups of figures (mappings) become a table
    with a row for each group. Each single figure becomes a line after the table.
    """
    groups: dict[str, Mapping[str, Any]] = {}
    single_figures: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping):
            groups[name] = value
        else:
            single_figures[name] = value
    lines = _table_of_groups(groups)
    for name, figure in single_figures.items():
        lines.append(f"{name}  {_format_cell(figure)}")
    return lines


def _table_of_groups(groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns the lines of a table with a header. Each group has the same figures."""
    if not groups:
        return []
    width_of_names = max(len(name) for name in groups)
    first_group = next(iter(groups.values()))
    columns = list(first_group)
    header = {column: column for column in columns}  # each cell is the name of its column
    lines = [_table_row("", header, columns, width_of_names)]
    for name, row in groups.items():
        lines.append(_table_row(name, row, columns, width_of_names))
    return lines


def _table_row(
    name: str, row: Mapping[str, Any], columns: Sequence[str], width_of_names: int
) -> str:
    """Returns the name of a row and its cells, in the order of the columns."""
    cells = [name.ljust(width_of_names)]
    for column in columns:
        width = max(len(column), _MIN_COLUMN_WIDTH)
        cells.append(_format_cell(row[column]).rjust(width))
    return "  ".join(cells)


def _format_cell(value: Any) -> str:
    """Formats a cell: floats with two decimals, counts and column names as they are."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)
