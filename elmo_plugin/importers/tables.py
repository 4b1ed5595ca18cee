"""The rows of tables: CSV, TSV, spreadsheets, parquet and Arrow, by pandas."""

import re
from typing import NamedTuple

import pandas
from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.text_files import suffix_of
from elmo_plugin.importers.columnar_files import COLUMNAR, read_columnar
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.spreadsheets import read_spreadsheet
from elmo_plugin.importers.table_text import (
    NAMES_OF_SEPARATORS,
    find_separator,
    parse_table,
    usual_width,
)
from elmo_plugin.importers.text import read_text

_SPREADSHEETS = (".xlsx", ".xlsm")
_DECLARATION = re.compile(r"sep=(.)(?=\n)")  # as Excel has it in the first line of CSV
_TABLES = (".csv", ".tsv", ".tab", *_SPREADSHEETS, *COLUMNAR)


class Row(NamedTuple):
    """The fields of a row, all of them text, its line in the file, and its document, if marked."""

    line: int
    fields: tuple[str, ...]
    document: str = ""

    @property
    def place(self) -> str:
        """Its place in the file, for messages."""
        return f"line {self.line}"

    @property
    def is_blank(self) -> bool:
        """Whether all fields are empty."""
        return not any(self.fields)


class Table(NamedTuple):
    """All rows of a file, of one length. Whether the first is a header is for importers to say."""

    file: str
    rows: list[Row]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0].fields)

    def column(self, number: int) -> list[str]:
        """Returns the fields of a column in the rows that are not blank."""
        return [row.fields[number] for row in self.rows if not row.is_blank]


def is_table_file(file: str) -> bool:
    """Returns whether the name of a file says that it is a table."""
    return suffix_of(file) in _TABLES


def is_binary_table(file: str) -> bool:
    """Returns whether the name of a file says that it is a table that is not text."""
    return suffix_of(file) in (*_SPREADSHEETS, *COLUMNAR)


def read_table(file: str, options: ImportOptions, report: Report) -> Table:
    """
    Reads a table. The end of the file's name says whether it is a spreadsheet, parquet or Arrow;
    otherwise it is text, with columns as `read_text_table` finds them. Rows that are longer or
    shorter than most are left out.

    Raises `ConfigurationError`, naming the file, if it is no table.
    """
    suffix = suffix_of(file)
    if suffix in _SPREADSHEETS:
        return _table_of_frame(file, read_spreadsheet(file, report), report)
    if suffix in COLUMNAR:
        return _table_of_frame(file, read_columnar(file), report)
    text = read_text(file, options, report)
    return read_text_table(file, text, options, report)


def read_text_table(file: str, text: str, options: ImportOptions, report: Report) -> Table:
    """
    Reads a table from the text of a file. Its separator is the one of the options, or the one that
    the file's name or its first line declares, or else the one that fits best.
    """
    if not text.strip():
        raise ConfigurationError(f"{file}: no rows in this file")
    separator = options.separator
    if separator is None:
        separator = separator_in_name(file)
    declaration = _DECLARATION.match(text)
    if declaration:
        text = text[declaration.end() :]
        if separator is None:
            separator = declaration[1]
    if separator is None:
        separator = find_separator(text)
    name = NAMES_OF_SEPARATORS.get(separator, repr(separator))
    report.took(f"a table separated by {name}")
    return _table_of_frame(file, parse_table(file, text, separator), report)


def separator_in_name(file: str) -> str | None:
    """Returns a tab if the name of a file says that tabs separate its columns."""
    if suffix_of(file) in (".tsv", ".tab"):
        return "\t"
    return None


def _table_of_frame(file: str, frame: pandas.DataFrame, report: Report) -> Table:
    """
    Returns the table of the rows that pandas has parsed. Rows that are longer or shorter than most
    are left out and reported. Raises `ConfigurationError` if all rows are blank.
    """
    width = usual_width(frame)
    rows = []
    line = 1
    for values in frame.itertuples(index=False, name=None):
        # A field that the row lacks is NaN, and so not text.
        fields = tuple(value for value in values if isinstance(value, str))
        row = Row(line, tuple(field.strip() for field in fields))
        # A field in quotation marks may have line ends in it.
        line += 1 + sum(field.count("\n") for field in fields)
        if row.is_blank:  # whatever its length, a blank row is kept: it may separate sentences
            row = row._replace(fields=("",) * width)
        if len(row.fields) == width:
            rows.append(row)
        else:
            report.leave_out(f"with {len(row.fields)} columns instead of {width}", row.place)
    if not width or all(row.is_blank for row in rows):
        raise ConfigurationError(f"{file}: no rows in this file")
    return Table(file, rows)
