"""Files of columns with a word in each row: its rows, its header, and where sentences end."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.column_names import (
    CONLLU_NAMES,
    has_columns_of_conllu,
    is_header,
    known_header,
)
from elmo_plugin.importers.entities_in_keys import add_columns_of_keys
from elmo_plugin.importers.loose_columns import WORD_NUMBER
from elmo_plugin.importers.row_comments import Rows, without_comments
from elmo_plugin.importers.sentence_numbers import Block, find_sentence_columns, split_at_changes
from elmo_plugin.importers.tables import Row, Table

_NOT_SPACES = re.compile(r"\S+", re.ASCII)  # other spaces may be part of a word
_GLOBAL_COLUMNS = re.compile(r"# *global\.columns *= *(.*)")
_HIPE_END = "EndOfSentence"  # in the last column of a sentence's last word
_DOCUMENT_MARK = re.compile(r"\s*(?:\d+\s+)?-DOCSTART")
_NEW_DOCUMENT = re.compile(r"# *newdoc\b")  # in CoNLL-U


class WordColumns(NamedTuple):
    """
    The rows of each sentence, all of one length.

    names: the names of the columns, or an empty list if the file does not name them
    sentence_columns: the columns that only tell sentences apart
    """

    file: str
    names: list[str]
    sentences: list[Block]
    sentence_columns: Collection[int]

    def name(self, column: int) -> str:
        """Returns the name of a column, or else its number, as `--column` takes both."""
        if self.names and self.names[column]:
            return self.names[column]
        return str(column)


def columns_of_text(
    file: str, lines: Sequence[str], separator: str | None = None, chosen: Collection[str] = ()
) -> WordColumns:
    """
    Returns the columns of the lines of a file. Lines are split at tabs if all of them have the same
    number of tabs, else at spaces. Comments begin with "#".

    A row is a header if it has usual names or the `chosen` ones. Between tabs, a row that differs
    in kind from the rows below it is a header too.

    Raises `ConfigurationError`, naming file and line, if rows differ in their number of columns.
    """
    at_tabs = separator == "\t" or (separator is None and have_tabs(lines))
    rows = without_comments(_rows_of_lines(lines, at_tabs))
    width = _usual_width(rows)
    names = _names_in_comment(lines)
    if len(names) != width:
        names, rows = _named_by_first_row(rows, width, chosen)
    _check_widths(file, rows, width)
    if at_tabs and not names:
        # Only rows of the same length can be compared by their contents.
        names, rows = _split_header(rows)
    return _columns(file, names, rows)


def _rows_of_lines(lines: Sequence[str], at_tabs: bool) -> Rows:
    """Returns the fields of each line, or `None` where a sentence ends."""
    rows: Rows = []
    document = ""
    for number, text in enumerate(lines, start=1):
        if _begins_document(text):
            document = f"that begins in line {number}"  # serves as its name
        if _is_boundary(text):
            rows.append(None)
        else:
            rows.append(Row(number, _split(text, at_tabs), document))
        if _HIPE_END in text:  # the sentence ends after this word
            rows.append(None)
    return rows


def _names_in_comment(lines: Sequence[str]) -> list[str]:
    """Returns the names of the columns in a comment of CoNLL-U Plus, or an empty list."""
    names: list[str] = []
    for text in lines:
        match = _GLOBAL_COLUMNS.match(text)
        if match:
            names = match[1].split()
    return names


def _named_by_first_row(rows: Rows, width: int, chosen: Collection[str]) -> tuple[list[str], Rows]:
    """
    Returns the names of the columns, and the rows below the header, if the file has one.

    The first row with `width` columns decides. It is a header if some of its names are usual or
    `chosen`. If it is a word in the columns of CoNLL-U, their names are known. Otherwise the list
    of names is empty.
    """
    for number, row in enumerate(rows):
        if row is None or len(row.fields) != width:
            continue  # perhaps a title above the header
        names = known_header(row.fields, chosen)
        if names:
            return names, rows[number + 1 :]
        if has_columns_of_conllu(row.fields):
            return list(CONLLU_NAMES), rows
        return [], rows
    return [], rows


def columns_of_table(table: Table, chosen: Collection[str]) -> WordColumns:
    """
    Returns the columns of CSV or of a spreadsheet. The first row is a header if it has usual names
    or the `chosen` ones, or if it differs in kind from the rows below it.
    """
    rows: Rows = []
    document = ""
    for row in table.rows:
        line = "\t".join(row.fields)
        if _has_document_mark(line):
            document = f"that begins in {row.place}"  # serves as its name
            rows.append(None)
        elif row.is_blank:
            rows.append(None)
        else:
            rows.append(row._replace(document=document))
    names, rows = _split_header(_without_title(rows), chosen)
    return _columns(table.file, names, rows)


def have_tabs(lines: Sequence[str]) -> bool:
    """
    Returns whether all lines have the same number of tabs, at least one. Comments, blank lines and
    marks of documents do not count.
    """
    numbers_of_tabs = set()
    for text in lines:
        is_comment = text.lstrip(" ").startswith("#")
        if not is_comment and not _is_boundary(text):
            numbers_of_tabs.add(text.count("\t"))
    return len(numbers_of_tabs) == 1 and 0 not in numbers_of_tabs


def _is_boundary(text: str) -> bool:
    """Returns whether a line only separates sentences or documents."""
    return not text.strip() or _has_document_mark(text)


def _has_document_mark(text: str) -> bool:
    """Returns whether a line has CoNLL-2003's mark of a document, perhaps behind a number."""
    return _DOCUMENT_MARK.match(text) is not None


def _begins_document(text: str) -> bool:
    """Returns whether a document begins at a line."""
    return _has_document_mark(text) or _NEW_DOCUMENT.match(text) is not None


def _split(text: str, at_tabs: bool) -> tuple[str, ...]:
    """Returns the fields of a line."""
    if at_tabs:
        return tuple(field.strip(" ") for field in text.split("\t"))
    return tuple(_NOT_SPACES.findall(text))


def _usual_width(rows: Rows) -> int:
    """Returns the number of columns that most rows have, or 0 if there are none."""
    lengths = Counter(len(row.fields) for row in rows if row is not None)
    if not lengths:
        return 0
    width, _ = lengths.most_common(1)[0]
    return width


def _check_widths(file: str, rows: Rows, width: int) -> None:
    """Raises `ConfigurationError`, naming file and line, if a row does not have `width` columns."""
    for row in rows:
        if row is not None and len(row.fields) != width:
            raise ConfigurationError(
                f"{file}, {row.place}: expected {width} columns as in most lines, got "
                f"{len(row.fields)}; --separator names what separates them"
            )


def _without_title(rows: Rows) -> Rows:
    """
    Returns the rows without the titles that people write above a table. A title is a row in which
    only one field is filled, and that field has several words or is above a blank row.
    """
    for number, row in enumerate(rows[:-1]):
        if row is None:
            continue
        filled = [field for field in row.fields if field]
        has_single_field = len(row.fields) > 1 and len(filled) == 1
        is_above_blank_row = rows[number + 1] is None
        is_title = has_single_field and (" " in filled[0] or is_above_blank_row)
        if not is_title:
            return rows[number:]
    return rows  # a table is more than titles, so these rows are something else


def _split_header(rows: Rows, chosen: Collection[str] = ()) -> tuple[list[str], Rows]:
    """
    Returns the names in the first row and the rows below it if it is a header, else an empty list
    and all rows.
    """
    filled = [row for row in rows if row is not None]
    if not filled:
        return [], rows
    first = filled[0]
    if known_header(first.fields, chosen) or is_header(first.fields, filled[1:]):
        return list(first.fields), rows[rows.index(first) + 1 :]
    return [], rows


def _columns(file: str, names: list[str], rows: Rows) -> WordColumns:
    """
    Returns the columns of rows below a header. A sentence ends at `None`, and where a column that
    tells sentences apart, such as their numbers, changes.
    """
    names, rows = add_columns_of_keys(names, rows)
    blocks: list[Block] = []
    for is_boundary, group in groupby(rows, key=lambda row: row is None):
        if not is_boundary:
            blocks.append([row for row in group if row is not None])
    blocks = _without_contracted_words(blocks)
    sentence_columns = find_sentence_columns(names, blocks)
    sentences = list(split_at_changes(blocks, list(sentence_columns.values())))
    return WordColumns(file, names, sentences, list(sentence_columns))


def _without_contracted_words(blocks: Sequence[Block]) -> list[Block]:
    """
    Leaves out the contracted words and the empty nodes of CoNLL-U. In its first column, a word has
    a number such as 1, a contracted word a range such as 1-2, and an empty node a number such as
    8.1.
    """
    # The first of only two columns has words, and they may be numbers.
    numbers = {row.fields[0] for block in blocks for row in block if len(row.fields) > 2}
    are_numbers = all(WORD_NUMBER.fullmatch(number) for number in numbers)
    if not are_numbers or not any(number.isdigit() for number in numbers):
        return list(blocks)
    kept = []
    for block in blocks:
        words = [row for row in block if row.fields[0].isdigit()]
        if words:
            kept.append(words)
    return kept
