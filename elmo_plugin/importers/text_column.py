"""The column of a table that has texts, or a word in each row."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.column_finder import ColumnFinder
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.table_header import is_header
from elmo_plugin.importers.tables import Row, Table, read_table
from elmo_plugin.importers.word_columns import columns_of_table

TEXT_NAMES = ("text", "sentence", "document", "review", "tweet", "comment", "content")


class TextRow(NamedTuple):
    """A text, or the words of a sentence with spaces between them, and its place in the file."""

    place: str
    text: str


def read_text_column(file: str, chosen: str | None, report: Report) -> Iterator[TextRow]:
    """
    Yields the texts of a table such as CSV, or the sentences of a table with a word in each row. A
    row without a text counts, and its text is blank.

    The column is the one that `chosen` says, by its name or its number from 0. Otherwise it is the
    column with a usual name, or the only one with texts.

    Raises `ConfigurationError`, naming the file and the columns, if no column or more than one may
    have the texts.
    """
    table = read_table(file, ImportOptions(), report)
    rows = [row for row in table.rows if not row.is_blank]
    titles = rows[0].fields
    column = _chosen_column(table, titles, chosen)
    rows_below_first = rows[1:] or rows  # the first row may be a header, if it is not the only one
    if column is None and not _columns_of_texts(rows_below_first):
        yield from _sentences_of_words(table, report)
        return
    has_header = _has_header(rows, chosen)
    if has_header:
        rows = rows[1:]
    if column is None:
        column = _find_column(file, titles, rows)
    elif not _has_texts(rows, column):
        # The column was chosen, or has a usual name for texts, but has a word in each row.
        yield from _sentences_of_words(table, report, chosen or titles[column])
        return
    name = str(column)
    if has_header:
        name = titles[column]
    report.took(f"the texts are in column {name!r}")
    for row in rows:
        yield TextRow(row.place, " ".join(row.fields[column].split()))


def _chosen_column(table: Table, titles: Sequence[str], chosen: str | None) -> int | None:
    """Returns the chosen column, or the one with a usual name for texts, or `None`."""
    if chosen is not None:
        # Numbers come before names, because the first row may be data with a number in it.
        for number in range(table.width):
            if chosen == str(number):
                return number
        if chosen in titles:
            return titles.index(chosen)
        raise ConfigurationError(
            f"{table.file}: --column: expected one of {table.width} columns, "
            f"{_listed(titles)}, got {chosen!r}"
        )
    names = [title.lower() for title in titles]
    for name in TEXT_NAMES:
        if name in names:
            return names.index(name)
    return None


def _has_header(rows: Sequence[Row], chosen: str | None) -> bool:
    """Returns whether the first row names the columns."""
    chosen_names = []
    if chosen is not None:
        chosen_names.append(chosen)
    rest = [row.fields for row in rows[1:]]
    return is_header(rows[0].fields, rest, chosen_names, TEXT_NAMES)


def _columns_of_texts(rows: Sequence[Row]) -> list[int]:
    """Returns the columns that have texts."""
    if not rows:
        return []
    return [column for column in range(len(rows[0].fields)) if _has_texts(rows, column)]


def _has_texts(rows: Sequence[Row], column: int) -> bool:
    """Returns whether most fields of a column that are not blank have several words."""
    filled = [row.fields[column] for row in rows if row.fields[column]]
    texts = [field for field in filled if " " in field]
    return 2 * len(texts) > len(filled)


def _find_column(file: str, titles: Sequence[str], rows: Sequence[Row]) -> int:
    """Returns the only column with texts. Raises `ConfigurationError` for none or several."""
    found = _columns_of_texts(rows)
    if len(found) != 1:
        candidates = [titles[column] for column in found]
        if not candidates:
            candidates = list(titles)
        listed = _listed(candidates)
        raise ConfigurationError(
            f"{file}: columns {listed} may all have the texts; --column NAME chooses one, by its "
            "name, or its number from 0"
        )
    return found[0]


def _sentences_of_words(
    table: Table, report: Report, chosen: str | None = None
) -> Iterator[TextRow]:
    """
    Yields the sentences of a table with a word in each row. The words are in the column with the
    `chosen` name or number, or else in the column that looks like words.
    """
    names: list[str] = []
    if chosen is not None:
        names.append(chosen)
    columns = columns_of_table(table, names)
    if not columns.sentences:
        raise ConfigurationError(f"{table.file}: no texts in this file")
    finder = ColumnFinder(columns)
    if chosen is None:
        column = finder.find_words()
    else:
        column = finder.resolve(chosen, "word")
    report.took(f"a word in each row, in column {columns.name(column)!r}")
    for rows in columns.sentences:
        # Spaces separate the words of the text, so a space within a word such as "10 000" becomes
        # an underscore.
        words = ["_".join(row.fields[column].split()) for row in rows]
        yield TextRow(rows[0].place, " ".join(word for word in words if word))


def _listed(titles: Sequence[str]) -> str:
    """Returns the names of columns for a message."""
    return " and ".join(repr(title) for title in titles)
