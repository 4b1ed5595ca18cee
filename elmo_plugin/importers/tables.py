"""The rows of tables: CSV, TSV, spreadsheets and parquet, by pandas."""

import csv
import io
from typing import NamedTuple
from zipfile import BadZipFile

import pandas
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_content, read_text

SPREADSHEETS = (".xlsx", ".xlsm")
PARQUET = (".parquet",)
_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
_TABLES = (".csv", ".tsv", ".tab", *SPREADSHEETS, *PARQUET)
_FIRST_ROWS = 50
_MOST_COLUMNS = 1000


class Row(NamedTuple):
    """The fields of a row, all of them text, its place in the file, and its document, if marked."""

    place: str
    fields: tuple[str, ...]
    document: str = ""

    @property
    def is_blank(self) -> bool:
        return not any(self.fields)


class Table(NamedTuple):
    """All rows of a file, of one length. Whether the first is a header is for importers to say."""

    file: str
    rows: list[Row]

    @property
    def width(self) -> int:
        return len(self.rows[0].fields)

    def column(self, number: int) -> list[str]:
        """Returns the fields of a column in the rows that are not blank."""
        return [row.fields[number] for row in self.rows if not row.is_blank]


def is_table_file(file: str) -> bool:
    """Returns whether the name of a file says that it is a table."""
    return file.lower().removesuffix(".gz").removesuffix(".zst").endswith(_TABLES)


def is_binary_table(file: str) -> bool:
    """Returns whether the name of a file says that it is a table that is not text."""
    return file.lower().endswith(SPREADSHEETS + PARQUET)


def read_table(file: str, options: ImportOptions, report: Report) -> Table:
    """
    Reads a table, by the end of its name a spreadsheet, parquet, or else text. Text is separated by
    the `separator` of the options, or by whichever gives most columns to most rows. Rows of another
    length than most are left out.

    Raises `ConfigurationError`, naming the file, if it is no table.
    """
    name = file.lower()
    if name.endswith(SPREADSHEETS):
        return _of_frame(file, _read_spreadsheet(file, report), report)
    if name.endswith(PARQUET):
        return _of_frame(file, _read_parquet(file), report)
    return read_text_table(file, read_text(file, options, report), options, report)


def read_text_table(file: str, text: str, options: ImportOptions, report: Report) -> Table:
    """Reads a table of text, as `read_table` describes it."""
    if not text.strip():
        raise ConfigurationError(f"{file}: no rows in this file")
    separator = options.separator or _separator_in_name(file) or find_separator(text)
    report.took(f"a table separated by {_SEPARATORS.get(separator, repr(separator))}")
    return _of_frame(file, _parse(file, text, separator), report)


def _separator_in_name(file: str) -> str | None:
    """Returns a tab if the name of a file says that tabs separate its columns."""
    name = file.lower().removesuffix(".gz").removesuffix(".zst")
    return "\t" if name.endswith((".tsv", ".tab")) else None


def find_separator(text: str) -> str:
    """Returns the separator with which pandas finds most columns in the first rows of a text."""
    head = "\n".join(text.split("\n")[:_FIRST_ROWS])
    best, most = ",", 1
    for separator in _SEPARATORS:
        try:
            frame = _parse("", head, separator)
        except ConfigurationError:
            continue  # its quotation marks do not fit this separator
        width = _usual_width(frame)
        if width > most:
            best, most = separator, width
    return best


def _parse(file: str, text: str, separator: str) -> pandas.DataFrame:
    """Returns the frame of a text. Fields that a row lacks are missing in it."""
    first, second, *_ = [*text.split("\n", 2), ""]
    quote = "'" if _is_in_apostrophes(first) or _is_in_apostrophes(second) else '"'
    quoting = csv.QUOTE_MINIMAL
    if separator == "\t" and '""' not in text and not first.startswith(quote):
        quoting = csv.QUOTE_NONE  # a quotation mark at the beginning of a field is the text's
    most_fields = max(line.count(separator) for line in text.split("\n")) + 1
    try:
        return pandas.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            names=range(min(most_fields, _MOST_COLUMNS)),
            dtype=str,
            keep_default_na=False,
            quoting=quoting,
            quotechar=quote,
            skipinitialspace=separator != "\t",
            skip_blank_lines=False,
            index_col=False,
            engine="python",  # it tells a field that is missing from an empty one
        )
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, csv.Error) as error:
        raise ConfigurationError(
            f"{file}: not a table ({error}); --separator names what separates its columns"
        ) from None


def _is_in_apostrophes(line: str) -> bool:
    return len(line) > 1 and line.startswith("'") and line.endswith("'")


def _read_spreadsheet(file: str, report: Report) -> pandas.DataFrame:
    """Returns the first sheet that has something in it."""
    try:
        sheets = pandas.read_excel(
            io.BytesIO(read_content(file)),
            sheet_name=None,
            header=None,
            dtype=str,
            keep_default_na=False,
        )
    except ImportError as error:
        raise ConfigurationError(
            f"{file}: reading a spreadsheet needs openpyxl ({error})"
        ) from None
    except (ValueError, KeyError, OSError, BadZipFile) as error:
        raise ConfigurationError(
            f"{file}: not a spreadsheet that can be read ({error}); save it as CSV"
        ) from None
    for name, frame in sheets.items():
        if not frame.empty:
            report.took(f"the sheet {name!r} of a spreadsheet")
            return frame.fillna("")
    raise ConfigurationError(f"{file}: all sheets of this spreadsheet are empty")


def _read_parquet(file: str) -> pandas.DataFrame:
    """Returns a table of parquet, the names of its columns as its first row."""
    try:
        frame = pandas.read_parquet(io.BytesIO(read_content(file)))
    except ImportError as error:
        raise ConfigurationError(f"{file}: reading parquet needs pyarrow ({error})") from None
    except (ValueError, OSError) as error:
        raise ConfigurationError(f"{file}: not parquet that can be read ({error})") from None
    names = pandas.DataFrame([list(map(str, frame.columns))])
    values = frame.astype(object).where(frame.notna(), "")
    values.columns = names.columns
    return pandas.concat([names, values], ignore_index=True).map(_as_text)


def _as_text(value: object) -> str:
    if hasattr(value, "tolist"):  # an array of numpy
        value = value.tolist()
    return str(value)


def _usual_width(frame: pandas.DataFrame) -> int:
    """Returns the number of fields that most rows have."""
    counts = frame.notna().sum(axis=1)
    counts = counts[counts > 0]
    return int(counts.mode().iloc[0]) if len(counts) else 0


def _of_frame(file: str, frame: pandas.DataFrame, report: Report) -> Table:
    """Returns the rows of the usual length, and the blank ones, with their places."""
    width = _usual_width(frame)
    rows = []
    line = 1
    for values in frame.itertuples(index=False, name=None):
        fields = tuple(value for value in values if isinstance(value, str))
        place = f"line {line}"
        line += 1 + sum(field.count("\n") for field in fields)
        if not any(field.strip() for field in fields):
            fields = ("",) * width
        if len(fields) == width:
            rows.append(Row(place, tuple(field.strip() for field in fields)))
        else:
            report.leave_out(f"with {len(fields)} columns instead of {width}", place)
    if not rows or not width:
        raise ConfigurationError(f"{file}: no rows in this file")
    return Table(file, rows)
