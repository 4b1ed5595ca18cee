"""The rows of a table of text, such as CSV, by pandas."""

import csv
import io
import re
from collections.abc import Sequence

import pandas
from allennlp.common.checks import ConfigurationError

NAMES_OF_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
_FIRST_ROWS = 50  # that show the separator
_QUOTED = re.compile('"[^"]*"')
_MOST_COLUMNS = 1000  # a line with more separators is a text, and not a row
_NEEDS_QUOTES = re.compile('[",\n]')  # a field that a spreadsheet saves in quotation marks


def find_separator(text: str) -> str:
    """
    Returns the separator that all of the first rows of a text have equally often, or else the one
    with which pandas finds most columns in them.
    """
    first_rows = text.split("\n")[:_FIRST_ROWS]
    for separator in NAMES_OF_SEPARATORS:
        if separator == ",":
            continue  # texts may have equally many commas by chance
        if _is_regular(separator, first_rows):
            return separator
    head = "\n".join(first_rows)
    best = ","
    most = 1
    for separator in NAMES_OF_SEPARATORS:
        try:
            frame = parse_table("", head, separator)
        except ConfigurationError:
            continue  # its quotation marks do not fit this separator
        width = usual_width(frame)
        if width > most:
            best = separator
            most = width
    return best


def _is_regular(separator: str, rows: Sequence[str]) -> bool:
    """
    Returns whether there are several rows, and all have the separator equally often. Separators
    between quotation marks do not count.
    """
    counts = [_QUOTED.sub("", row).count(separator) for row in rows if row.strip()]
    return len(counts) > 1 and len(set(counts)) == 1 and counts[0] > 0


def parse_table(file: str, text: str, separator: str) -> pandas.DataFrame:
    """
    Returns the rows of a text, including the first one, even if it is a header. The fields that a
    row lacks are NaN.

    Raises `ConfigurationError`, naming the file and the option, if they cannot be parsed.
    """
    quote = _quotation_mark(text)
    quoting = csv.QUOTE_NONE  # quotation marks are part of the text
    if has_quoted_fields(text, separator, quote):
        quoting = csv.QUOTE_MINIMAL
    most_fields = max(line.count(separator) for line in text.split("\n")) + 1
    num_columns = min(most_fields, _MOST_COLUMNS)
    try:
        return pandas.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            names=range(num_columns),  # without names, no row may be longer than the first
            dtype=str,
            keep_default_na=False,
            quoting=quoting,
            quotechar=quote,
            skipinitialspace=separator != "\t",
            skip_blank_lines=False,
            index_col=False,
            engine="python",  # unlike others, it distinguishes a missing field from an empty one
        )
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, csv.Error) as error:
        raise ConfigurationError(
            f"{file}: not a table ({error}); --separator names what separates its columns"
        ) from None


def _quotation_mark(text: str) -> str:
    """
    Returns the mark that encloses fields, if any mark does: an apostrophe if one of the first two
    lines begins and ends with it, else a quotation mark.
    """
    first_lines = text.split("\n", 2)[:2]  # perhaps a header, and a row below it
    for line in first_lines:
        if len(line) > 1 and line.startswith("'") and line.endswith("'"):
            return "'"
    return '"'


def usual_width(frame: pandas.DataFrame) -> int:
    """Returns the number of fields that most rows have, or 0 without any row."""
    fields_per_row = frame.notna().sum(axis=1)
    fields_per_row = fields_per_row[fields_per_row > 0]
    if not len(fields_per_row):
        return 0
    return int(fields_per_row.mode().iloc[0])


def has_quoted_fields(text: str, separator: str, quote: str = '"') -> bool:
    """Returns whether quotation marks enclose fields. Otherwise they are part of the text."""
    if _are_all_fields_quoted(text, separator, quote):
        return True
    quoted_field = _quoted_field(separator, quote)
    fields = [field for field in quoted_field.findall(text) if field]
    if not fields:
        return False
    rest = quoted_field.sub("", text)
    # In a table with a word in each row, a mark may be a word that encloses nothing.
    may_be_words = quote in rest or _has_columns_between_marks(fields, separator)
    if may_be_words and _is_regular_without_quotes(text, separator, quote):
        return False
    if separator == "\t":
        return _are_quoted_between_tabs(fields, rest, text, quote)
    return True


def _are_all_fields_quoted(text: str, separator: str, quote: str) -> bool:
    """Returns whether a text consists of fields in quotation marks, and of nothing else."""
    between = re.escape(separator)
    mark = re.escape(quote)
    inner = f"[^{mark}]*"
    field = f"{mark}{inner}(?:{mark}{mark}{inner})*{mark}"
    rest = re.sub(f"{field}(?:{between}|\n+|\\Z)", "", text)
    return bool(text) and not rest


def _quoted_field(separator: str, quote: str) -> re.Pattern[str]:
    """
    Returns the pattern of a field in quotation marks, with the separator before it. Its group is
    the text between the marks. A mark within the text is doubled.
    """
    between = re.escape(separator)
    mark = re.escape(quote)
    inner = f"[^{mark}]"
    if separator == "\t":
        inner = f"[^{mark}\t]"  # fields with tabs in them are rarer than lone marks
    return re.compile(
        f"(?:^|{between}) *{mark}((?:{inner}|{mark}{mark})*){mark}(?= *(?:{between}|$))", re.M
    )


def _has_columns_between_marks(fields: Sequence[str], separator: str) -> bool:
    """
    Returns whether a text between two quotation marks begins with a separator or a line end, and
    goes over several lines. Then each of the marks may be a field of its own.
    """
    return any("\n" in field and field.startswith((separator, "\n")) for field in fields)


def _is_regular_without_quotes(text: str, separator: str, quote: str) -> bool:
    """
    Returns whether quotation marks may enclose nothing: all lines have the separator equally often,
    and one of them has an odd number of marks.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    numbers = {line.count(separator) for line in lines}
    if len(numbers) > 1:
        return False
    return any(line.count(quote) % 2 == 1 for line in lines)


def _are_quoted_between_tabs(fields: Sequence[str], rest: str, text: str, quote: str) -> bool:
    """
    Returns whether quotation marks enclose fields between tabs. Few programs write such marks, so
    they are part of the text unless something shows that they are not.

    rest: the text without the fields that are in marks
    """
    if text.startswith(quote):
        return True  # the first field of the first row has marks, so all fields are likely to
    mark_at_beginning = re.compile(f"(?:^|\t) *{re.escape(quote)}", re.M)
    if mark_at_beginning.search(rest):
        return False  # a mark begins a field but does not end it, so it is part of the text
    return all(_NEEDS_QUOTES.search(field) for field in fields)
