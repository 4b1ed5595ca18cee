"""The rows of spreadsheets, by pandas and openpyxl."""

import io
from collections.abc import Sequence
from typing import Any
from zipfile import BadZipFile

import pandas
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_content

_TIME_BEHIND_DATE = " 00:00:00$"  # pandas writes it where a cell has a date only


def read_spreadsheet(file: str, report: Report) -> pandas.DataFrame:
    """
    Returns the rows of the largest sheet and of all sheets with the same header. The report names
    the sheets that are taken, and the others.

    Raises `ConfigurationError`, naming the file, if it cannot be read, or all sheets are empty.
    """
    sheets = _read_sheets(file)
    if not sheets:
        raise ConfigurationError(f"{file}: all sheets of this spreadsheet are empty")
    largest = max(sheets.values(), key=lambda frame: frame.size)
    header = list(largest.iloc[0])
    taken = []
    names_taken = []
    names_left_out = []
    for name, frame in sheets.items():
        if list(frame.iloc[0]) == header:
            taken.append(frame)
            names_taken.append(repr(name))
        else:
            names_left_out.append(repr(name))
    if len(taken) == 1:
        report.took(f"the sheet {names_taken[0]} of a spreadsheet")
    else:
        report.took(f"the sheets {', '.join(names_taken)} of a spreadsheet, with one header")
    if names_left_out:
        listed = ", ".join(names_left_out)
        report.took(f"not the sheets {listed}: save one as CSV to read it alone")
    return _joined(taken)


def _joined(sheets: Sequence[pandas.DataFrame]) -> pandas.DataFrame:
    """
    Returns the rows of several sheets below each other, with the header of the first. A blank row
    between two sheets separates their sentences.
    """
    first = sheets[0]
    blank_row = pandas.DataFrame([[""] * first.shape[1]])
    parts = [first]
    for sheet in sheets[1:]:
        parts.append(blank_row)
        parts.append(sheet.iloc[1:])
    return pandas.concat(parts, ignore_index=True)


def _read_sheets(file: str) -> dict[str, pandas.DataFrame]:
    """
    Returns the sheets that are not empty, by their names. All cells are texts. Raises
    `ConfigurationError`, naming the file, if it cannot be read.
    """
    content = io.BytesIO(read_content(file))
    try:
        with pandas.ExcelFile(
            content,
            engine="openpyxl",
            engine_kwargs={"read_only": False},  # openpyxl forgets merged cells otherwise
        ) as book:
            sheets = {}
            for name in book.sheet_names:
                frame = pandas.read_excel(
                    book, sheet_name=name, header=None, dtype=str, keep_default_na=False
                )
                if not frame.empty:
                    frame = frame.fillna("").replace(_TIME_BEHIND_DATE, "", regex=True)
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
    Writes the value of cells that are merged within a column into each of their rows, such as the
    number of a sentence or the tag of an entity. Only the first word of an entity keeps a tag with
    B-: the others get the tag with I-.
    """
    num_rows, num_columns = frame.shape
    for cells in sheet.merged_cells.ranges:
        if cells.min_col != cells.max_col or cells.max_col > num_columns:
            continue  # a title over several columns, or cells beside the table
        # openpyxl counts rows and columns from 1, and the last row is one of the cells.
        column = cells.min_col - 1
        first_row = cells.min_row - 1
        end_row = min(cells.max_row, num_rows)
        if first_row >= end_row:
            continue  # below the table
        value = frame.iat[first_row, column]
        if value.startswith("B-"):
            value = "I-" + value.removeprefix("B-")
        for row in range(first_row + 1, end_row):
            frame.iat[row, column] = value
