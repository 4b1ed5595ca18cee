"""Columns of words as programs and people write them: with comments, tabs, spaces, blank ends."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS, HIDDEN_WORD, NO_ANNOTATION, ConllWord
from elmo_plugin.tasks.dataset_reader import Line

# The columns of CoNLL-2012, counted from 0.
DOCUMENT_COLUMN = 0
PART_COLUMN = 1  # the number of the document's part
NUMBER_COLUMN = 2  # the number of the word in its sentence
WORD_COLUMN = 3
SPEAKER_COLUMN = 9
ENTITY_COLUMN = 10
WORD_NUMBER = re.compile(r"\d+([-.]\d+)?")  # as in CoNLL-U: also 8-9 and 8.1
_LABEL_OF_WORD = re.compile(r"[-_]?|\S*[()*]\S*")  # in the last column: none, or brackets
_ARGUMENT = re.compile(r"\([^()]+\*|\*\S*\)")  # mentions have no `*` next to their brackets
_TABS_HINT = "columns with spaces are separated by tabs, sentences by blank lines"


class Row(NamedTuple):
    """A line and its columns."""

    line: Line
    columns: list[str]


def split_rows(lines: Sequence[Line]) -> list[Row]:
    """
    Splits the lines of a sentence into columns. If they have tabs, columns are split there, and may
    have spaces or be empty. Otherwise they are split at white space. Leaves out comments, and last
    columns that are blank at all words.
    """
    words = [line for line in lines if not line.text.startswith("#")]
    if not words:
        words = list(lines)  # words may begin with # too
    use_tabs = _are_tabs_between_columns(words)
    lengths = Counter(len(_split(line, use_tabs)) for line in words)
    usual_length, _ = lengths.most_common(1)[0]
    rows = [Row(line, _split(line, use_tabs)) for line in lines]
    rows = [row for row in rows if not _is_comment(row, usual_length)]
    while rows and not any(row.columns[-1] for row in rows):
        rows = [Row(row.line, row.columns[:-1]) for row in rows]
    return rows


def numbered_sentences(lines: Iterable[Line]) -> Iterator[list[Row]]:
    """
    Yields the rows of each sentence of a file like CoNLL-U, split at tabs. Only rows with a whole
    number in the first column are words. The others are left out: comments, contracted words such
    as 1-2, and empty nodes such as 8.1.
    """
    # Blank lines are groups too, but no word is in them.
    for _, group in groupby(lines, key=lambda line: not line.text.strip()):
        rows = [Row(line, line.text.strip("\r\n").split("\t")) for line in group]
        rows = [row for row in rows if row.columns[0].isdecimal()]
        if rows:
            yield rows


def _are_tabs_between_columns(lines: Sequence[Line]) -> bool:
    """Returns whether all columns are separated by tabs, and not some of them by spaces."""
    if not all("\t" in line.text for line in lines):
        return False
    # In CoNLL-2012 with tabs between some columns, tabs give too few columns, white space enough.
    num_at_tabs = lines[0].text.count("\t") + 1
    num_at_white_space = len(lines[0].columns)
    return num_at_tabs >= FIXED_COLUMNS or num_at_white_space <= FIXED_COLUMNS


def _split(line: Line, use_tabs: bool) -> list[str]:
    """Returns the columns of a line, between tabs or between any white space."""
    if not use_tabs:
        return line.columns
    return [column.strip(" ") for column in line.text.strip("\r\n").split("\t")]


def _is_comment(row: Row, usual_length: int) -> bool:
    """
    Returns whether a line that begins with # is a comment. It is the line of a word if it has the
    usual number of columns, and the last one may be the label of a word.
    """
    if not row.line.text.startswith("#"):
        return False
    if len(row.columns) != usual_length:
        return True
    return _LABEL_OF_WORD.fullmatch(row.columns[-1]) is None


def check_lengths(rows: Sequence[Row]) -> None:
    """Raises `ConfigurationError`, naming file and line, if rows differ in length."""
    first = rows[0]
    for row in rows:
        if len(row.columns) != len(first.columns):
            raise row.line.error(
                f"expected {len(first.columns)} columns (as in line {first.line.number}; "
                f"{_TABS_HINT}), got {len(row.columns)}"
            )


def check_entities(rows: Sequence[Row], speaker_column: int) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if the column after the speaker does not have
    named entities. Then the speaker's name probably has spaces, and became several columns.
    """
    entity_column = speaker_column + 1
    for row in rows:
        entity = row.columns[entity_column]
        may_be_entity = entity in NO_ANNOTATION or "*" in entity or "(" in entity
        if may_be_entity or "\t" in row.line.text:
            continue  # at tabs, names do not become several columns
        got = " ".join(row.columns[speaker_column : entity_column + 2])
        raise row.line.error(
            f"expected the speaker and the named entity in columns {speaker_column + 1} and "
            f"{entity_column + 1}, got {got!r}; {_TABS_HINT}"
        )


def check_numbers(rows: Sequence[Row], column: int) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if the numbers of words begin again within a
    sentence, because two sentences have no blank line between them.
    """
    first_number = rows[0].columns[column]
    for before, row in pairwise(rows):
        number = row.columns[column]
        # If the column has no numbers, the same text may stand at successive words.
        is_new = number != before.columns[column]
        if is_new and number == first_number:
            raise row.line.error(f"expected a blank line before word {number}")


def check_words(rows: Sequence[Row], column: int) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if `[WORD]` stands in place of all words.
    Files of OntoNotes are so distributed, without its texts.
    """
    if all(row.columns[column] == HIDDEN_WORD for row in rows):
        raise rows[0].line.error(
            f"the words are missing, {HIDDEN_WORD}: make a gold_conll of this gold_skel first"
        )


def has_coreference(rows: Sequence[Row]) -> bool:
    """
    Returns whether the last column has mentions of coreference. It may also have the arguments of a
    predicate or, in a file that ends there, named entities.
    """
    labels = [row.columns[-1] for row in rows]
    if any(_ARGUMENT.search(label) for label in labels):
        return False
    # Columns of arguments, one for each predicate, and of mentions; negative in other forms.
    num_further_columns = len(rows[0].columns) - FIXED_COLUMNS
    if num_further_columns < 0:
        return True
    if num_further_columns == 0:
        has_entities = any("*" in label for label in labels)
        return not has_entities
    has_brackets = any("(" in label or ")" in label for label in labels)
    if has_brackets or "*" not in labels:
        return True
    # A sentence without a label: mentions need a column beside the arguments of each predicate.
    words = [ConllWord(row.line, *row.columns[:FIXED_COLUMNS]) for row in rows]
    num_predicates = sum(word.is_predicate for word in words)
    return num_further_columns != num_predicates
