"""Columns of words as programs and people write them: with comments, tabs, spaces, blank ends."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS, HIDDEN_WORD, NO_ANNOTATION, ConllWord
from elmo_plugin.tasks.dataset_reader import Line

_LAST_COLUMN = re.compile(r"[-_]?|\S*[()*]\S*")  # of a word: no annotation, or brackets
_ARGUMENT = re.compile(r"\([^()]+\*|\*\S*\)")  # mentions have no `*` next to their brackets
_TABS_HINT = "columns with spaces are separated by tabs, sentences by blank lines"


class Row(NamedTuple):
    """A line and its columns."""

    line: Line
    columns: list[str]


def split_rows(lines: Sequence[Line]) -> list[Row]:
    """
    Splits the lines of a sentence into columns: at tabs, so that a column may have spaces or be
    empty, if all words have tabs, otherwise at white space. Leaves out comments, and last columns
    that are blank at all words.
    """
    # Comments tell nothing about the columns, unless all words happen to begin with #.
    words = [line for line in lines if not line.text.startswith("#")] or lines
    use_tabs = _are_tabs_between_columns(words)
    rows = [Row(line, _split(line, use_tabs)) for line in lines]
    lengths = [len(row.columns) for row in rows if row.line in words]
    usual = max(lengths, key=lengths.count)
    rows = [row for row in rows if not _is_comment(row, usual)]
    while rows and not any(row.columns[-1] for row in rows):
        rows = [Row(row.line, row.columns[:-1]) for row in rows]
    return rows


def numbered_sentences(lines: Iterable[Line]) -> Iterator[list[Row]]:
    """
    Yields the rows of each sentence of a file like CoNLL-U, split at tabs. Rows without a plain
    number are left out: comments, contracted words and empty nodes.
    """
    for _, group in groupby(lines, key=lambda line: not line.text.strip()):
        rows = [Row(line, line.text.strip("\r\n").split("\t")) for line in group]
        rows = [row for row in rows if row.columns[0].isdecimal()]
        if rows:
            yield rows


def _are_tabs_between_columns(lines: Sequence[Line]) -> bool:
    """
    Returns whether all columns are separated by tabs. If tabs and spaces are mixed, tabs alone
    give fewer columns than CoNLL-2012 has, and white space gives more.
    """
    if not all("\t" in line.text for line in lines):
        return False
    by_tabs = lines[0].text.count("\t") + 1
    return by_tabs >= FIXED_COLUMNS or len(lines[0].columns) <= FIXED_COLUMNS


def _split(line: Line, use_tabs: bool) -> list[str]:
    """Returns the columns of a line, between tabs or between any white space."""
    if not use_tabs:
        return line.columns
    return [column.strip(" ") for column in line.text.strip("\r\n").split("\t")]


def _is_comment(row: Row, usual_length: int) -> bool:
    """
    Returns whether a line is a comment: it begins with #, and lacks the usual number of columns, or
    its last one is not as in the line of a word.
    """
    if not row.line.text.startswith("#"):
        return False
    is_word = len(row.columns) == usual_length and _LAST_COLUMN.fullmatch(row.columns[-1])
    return not is_word


def check_lengths(rows: Sequence[Row]) -> None:
    """Raises `ConfigurationError`, naming file and line, if rows differ in length."""
    first = rows[0]
    for row in rows:
        if len(row.columns) != len(first.columns):
            raise row.line.error(
                f"expected {len(first.columns)} columns (as in line {first.line.number}; "
                f"{_TABS_HINT}), got {len(row.columns)}"
            )


def check_entities(rows: Sequence[Row], speaker: int) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if the columns of the speaker and, after it,
    of the named entity seem to be others, as if the speaker's name had spaces.
    """
    for row in rows:
        entity = row.columns[speaker + 1]
        may_be_entity = entity in NO_ANNOTATION or "*" in entity or "(" in entity
        if not may_be_entity and "\t" not in row.line.text:
            raise row.line.error(
                f"expected the speaker and the named entity in columns {speaker + 1} and "
                f"{speaker + 2}, got {' '.join(row.columns[speaker : speaker + 3])!r}; {_TABS_HINT}"
            )


def check_numbers(rows: Sequence[Row], column: int) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if the numbers of words begin again within a
    sentence, because two sentences have no blank line between them.
    """
    first = rows[0].columns[column]
    for before, row in pairwise(rows):
        number = row.columns[column]
        if number == first and before.columns[column] != number:
            raise row.line.error(f"expected a blank line before word {number}")


def check_words(rows: Sequence[Row], column: int) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if a mark stands in place of all words, as in
    the files that are distributed without OntoNotes' texts.
    """
    if all(row.columns[column] == HIDDEN_WORD for row in rows):
        raise rows[0].line.error(
            f"the words are missing, {HIDDEN_WORD}: make a gold_conll of this gold_skel first"
        )


def has_coreference(rows: Sequence[Row]) -> bool:
    """
    Returns whether the last column has mentions, and not named entities or the arguments of a
    predicate. If its labels do not show it, it has mentions unless there is a further column for
    each predicate.
    """
    last = [row.columns[-1] for row in rows]
    if any(_ARGUMENT.search(label) for label in last):
        return False
    num_further_columns = len(rows[0].columns) - FIXED_COLUMNS  # arguments and mentions
    if num_further_columns == 0:  # the last one may be the named entities, with their `*`
        return not any("*" in label for label in last)
    has_brackets = any("(" in label or ")" in label for label in last)
    if num_further_columns > 0 and "*" in last and not has_brackets:
        words = [ConllWord(row.line, *row.columns[:FIXED_COLUMNS]) for row in rows]
        return num_further_columns != sum(word.is_predicate for word in words)
    return True
