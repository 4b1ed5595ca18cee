"""The rows of spreadsheets, by pandas and openpyxl."""

import io
from typing import Any
from zipfile import BadZipFile

import pandas
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_content

_MIDNIGHT = " 00:00:00$"  # that pandas writes behind a date


def read_spreadsheet(file: str, report: Report) -> pandas.DataFrame:
    """
    Returns the rows of the largest sheet, and of the sheets with the same header, below each other
    with one header. The report names the sheets that are left out.

    Raises `ConfigurationError`, naming the file, if it cannot be read, or all sheets are empty.
    """
    sheets = _read_sheets(file)
    if not sheets:
        raise ConfigurationError(f"{file}: all sheets of this spreadsheet are empty")
    largest = max(sheets.values(), key=lambda frame: frame.size)
    header = list(largest.iloc[0])
    taken = []
    left_out = []
    parts: list[pandas.DataFrame] = []
    for name, frame in sheets.items():
        if frame is not largest and list(frame.iloc[0]) != header:
            left_out.append(repr(name))
            continue
        if parts:
            # A blank row ends the last sentence of a sheet.
            blank = pandas.DataFrame([[""] * frame.shape[1]])
            parts.append(blank)
            frame = frame.iloc[1:]
        parts.append(frame)
        taken.append(repr(name))
    if len(taken) == 1:
        report.took(f"the sheet {taken[0]} of a spreadsheet")
    else:
        report.took(f"the sheets {', '.join(taken)} of a spreadsheet, with one header")
    if left_out:
        report.took(f"not the sheets {', '.join(left_out)}: save one as CSV to read it alone")
    return pandas.concat(parts, ignore_index=True)


def _read_sheets(file: str) -> dict[str, pandas.DataFrame]:
    """Returns the sheets that are not empty by their names."""
    content = io.BytesIO(read_content(file))
    try:
        with pandas.ExcelFile(
            content,
            engine="openpyxl",
            engine_kwargs={"read_only": False},  # for merged cells
        ) as book:
            sheets = {}
            for name in book.sheet_names:
                frame = pandas.read_excel(
                    book, sheet_name=name, header=None, dtype=str, keep_default_na=False
                )
                if not frame.empty:
                    frame = frame.fillna("").replace(_MIDNIGHT, "", regex=True)
                    _fill_merged_cells(frame, book.book[name])
                    sheets[str(name)] = frame
            return sheets
    except ImportError as error:
        raise ConfigurationError(
            f"{file}: reading a spreadsheet needs openpyxl ({error})"
        ) from None
    except (ValueError, KeyError, OSError, BadZipFile) as error:
        raise ConfigurationError(
            f"{file}: not a spreadsheet that can be read ({error}); save it as CSV"
        ) from None


def _fill_merged_cells(frame: pandas.DataFrame, sheet: Any) -> None:
    """
    Writes the value of cells that are merged within a column into each of their rows: the number of
    a sentence, or the tag of an entity. A tag with B- has I- in the rows below its first.
    """
    num_rows, num_columns = frame.shape
    for cells in sheet.merged_cells.ranges:
        if cells.min_col != cells.max_col or cells.max_col > num_columns:
            continue  # a title over several columns, or cells beside the table
        column = cells.min_col - 1
        first = cells.min_row - 1
        last = min(cells.max_row, num_rows)
        if first >= last:
            continue  # below the table
        value = frame.iat[first, column]
        if value.startswith("B-"):
            value = "I-" + value.removeprefix("B-")
        for row in range(first + 1, last):
            frame.iat[row, column] = value
