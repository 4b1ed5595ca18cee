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
_MOST_COLUMNS = 1000
_NEEDS_QUOTES = re.compile('[",\n]')  # a field that a spreadsheet saves in quotation marks


def find_separator(text: str) -> str:
    """
    Returns the separator that all of the first rows of a text have equally often, or else the one
    with which pandas finds most columns in them. Commas count only for pandas, because rows of
    texts may have equally many by chance.
    """
    first_rows = text.split("\n")[:_FIRST_ROWS]
    for separator in NAMES_OF_SEPARATORS:
        if separator != "," and _is_regular(separator, first_rows):
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
    Returns whether there are several rows, and all have the separator equally often, not counting
    those between quotation marks.
    """
    counts = [_QUOTED.sub("", row).count(separator) for row in rows if row.strip()]
    return len(counts) > 1 and len(set(counts)) == 1 and counts[0] > 0


def parse_table(file: str, text: str, separator: str) -> pandas.DataFrame:
    """
    Returns the rows of a text, with the first one among them even if it is a header. A row with
    fewer fields than others has NaN in place of those that it lacks.

    Raises `ConfigurationError`, naming the file and the option, if they cannot be parsed.
    """
    quote = '"'
    if any(_is_in_apostrophes(line) for line in text.split("\n", 2)[:2]):
        quote = "'"
    quoting = csv.QUOTE_NONE  # quotation marks are part of the text
    if has_quoted_fields(text, separator, quote):
        quoting = csv.QUOTE_MINIMAL
    most_fields = max(line.count(separator) for line in text.split("\n")) + 1
    try:
        return pandas.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            names=range(min(most_fields, _MOST_COLUMNS)),  # or the first row would limit the others
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


def usual_width(frame: pandas.DataFrame) -> int:
    """Returns the number of fields that most rows have, or 0 without any row."""
    fields_per_row = frame.notna().sum(axis=1)
    fields_per_row = fields_per_row[fields_per_row > 0]
    if not len(fields_per_row):
        return 0
    return int(fields_per_row.mode().iloc[0])


def has_quoted_fields(text: str, separator: str, quote: str = '"') -> bool:
    """
    Returns whether quotation marks enclose fields; else they are part of the text. Between tabs
    they do only if all that begin a field also end it, and fields need them, or all have them.
    """
    between = re.escape(separator)
    mark = re.escape(quote)
    inner = f"[^{mark}]"
    if separator == "\t":
        inner = f"[^{mark}\t]"  # fields with tabs in them are rarer than lone marks
    begin = f"(?:^|{between}) *{mark}"
    whole = re.compile(f"{begin}((?:{inner}|{mark}{mark})*){mark}(?= *(?:{between}|$))", re.M)
    fields = [field for field in whole.findall(text) if field]
    if not fields:
        return False
    beside_fields = whole.sub("", text)
    are_lone_marks = quote in beside_fields or _encloses_columns(fields, separator)
    if are_lone_marks and _may_be_lone_marks(text, separator, quote):
        return False
    if separator != "\t" or text.startswith(quote):
        return True
    # Between tabs, a mark that begins a field without ending it is part of the text.
    if re.search(begin, beside_fields, re.M):
        return False
    return all(_NEEDS_QUOTES.search(field) for field in fields)


def _may_be_lone_marks(text: str, separator: str, quote: str) -> bool:
    """
    Returns whether some quotation marks may be words, and enclose nothing: all lines have equally
    many columns as they stand, and one has an odd number of marks.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    numbers = {line.count(separator) for line in lines}
    if len(numbers) > 1:
        return False
    return any(line.count(quote) % 2 == 1 for line in lines)


def _encloses_columns(fields: Sequence[str], separator: str) -> bool:
    """
    Returns whether one of the texts between quotation marks goes on with another column or line, as
    between two words `"` of a table with a word in each row.
    """
    return any("\n" in field and field.startswith((separator, "\n")) for field in fields)


def _is_in_apostrophes(line: str) -> bool:
    """Returns whether a line begins and ends with an apostrophe, as if it were a quotation mark."""
    return len(line) > 1 and line.startswith("'") and line.endswith("'")
