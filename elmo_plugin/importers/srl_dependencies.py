"""
Semantic roles of single words, the heads of arguments: CoNLL-2009, CoNLL-2008, and CoNLL-U with
columns of PropBank, as the first Universal Propositions have them.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.importers.loose_columns import Row, check_lengths, numbered_sentences
from elmo_plugin.importers.report import Report
from elmo_plugin.tasks.conll2012 import NO_ANNOTATION, line_kind
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence

# Columns, from 0
_FORM = 1
_FIXED_COLUMNS = 10  # before the columns of predicates, in CoNLL-U and CoNLL-2008
_FIXED_COLUMNS_2009 = 12
_HEAD = 6  # in CoNLL-U
_HEADS_2009 = (8, 9)  # gold and predicted
_FLAG_OF_FIRST_PROPOSITIONS = 8  # in place of the last two columns of CoNLL-U, with the frameset
_FLAGS = {"Y", "_"}  # of a column that only says whether a word is a predicate
# The first word, the contraction of the first words, or an empty node before them, in CoNLL-U.
_FIRST_NUMBER = re.compile(r"1(-\d+)?|0\.\d+")


def is_dependencies(lines: Sequence[Line]) -> bool:
    """
    Returns whether the first word of a file has the number 1 in its first column, and some word has
    more than the ten columns of CoNLL-U. Words of sentences without predicates may have only these.
    """
    for number, line in enumerate(lines):
        if line_kind(line) in ("begin", "end"):
            return False  # CoNLL-2012: its first column has the document, and that may be called 1
        if line.text.strip() and not line.text.startswith("#"):
            columns = _columns_in(line)
            is_first = _FIRST_NUMBER.fullmatch(columns[0]) is not None
            if not is_first or len(columns) < _FIXED_COLUMNS:
                return False
            return any(len(_columns_in(word)) > _FIXED_COLUMNS for word in lines[number:])
    return False


def _columns_in(line: Line) -> list[str]:
    """Returns the columns of a line, between tabs."""
    return line.text.rstrip("\r\n").split("\t")


def read_dependencies(lines: Sequence[Line], report: Report) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence. Each argument is one word, its head.

    Raises `ConfigurationError`, naming file and line, if the words of a sentence are not numbered
    without gaps, if it has too few columns, or more or fewer columns of arguments than predicates.
    """
    report.took("each argument is one word, its head, as these columns mark it")
    for rows in numbered_sentences(lines):
        check_lengths(rows)
        check_numbers_of_words(rows)
        if len(rows[0].columns) < _FIXED_COLUMNS:
            raise rows[0].line.error(
                f"expected at least {_FIXED_COLUMNS} columns, got {len(rows[0].columns)}"
            )
        yield rows[0].line, _sentence_of(rows, report)


def check_numbers_of_words(rows: Sequence[Row]) -> None:
    """Raises `ConfigurationError`, naming file and line, if words are not numbered without gaps."""
    for row in rows:
        if not is_whole_number(row.columns[0]):
            raise row.line.error(f"expected the number of a word, got {row.columns[0]:.60}")
    for before, row in pairwise(rows):
        next_number = int(before.columns[0]) + 1
        if int(row.columns[0]) != next_number:
            raise row.line.error(
                f"expected word {next_number} of a sentence, got {row.columns[0]}; a blank line "
                "ends a sentence"
            )


def _sentence_of(rows: Sequence[Row], report: Report) -> SrlSentence:
    """
    Returns the sentence of some rows. Raises `ConfigurationError`, naming file and line, if it has
    more or fewer columns of arguments than predicates.
    """
    words = [row.columns[_FORM] for row in rows]
    frameset_column = _find_framesets(rows)
    if frameset_column is None:
        return SrlSentence(words, [], rows[0].line.location)
    framesets = [row.columns[frameset_column] for row in rows]
    predicate_words = [index for index, frameset in enumerate(framesets) if _is_marked(frameset)]
    argument_columns = range(frameset_column + 1, len(rows[0].columns))
    if not predicate_words and len(argument_columns) == 1:
        labels = [row.columns[frameset_column + 1] for row in rows]
        if not any(_is_marked(label) for label in labels):
            argument_columns = range(0)  # a sentence without predicates may have a blank column
    if len(predicate_words) != len(argument_columns):
        raise rows[0].line.error(
            f"the sentence that begins here has {len(predicate_words)} predicates, but "
            f"{len(argument_columns)} columns of arguments"
        )
    predicates = []
    for word, column in zip(predicate_words, argument_columns, strict=True):
        lemma = framesets[word].partition(".")[0]
        labels = [row.columns[column] for row in rows]
        predicates.append(Predicate(word, lemma, arguments_of_heads(word, labels, report)))
    return SrlSentence(words, predicates, rows[0].line.location)


def _find_framesets(rows: Sequence[Row]) -> int | None:
    """
    Returns the column with the framesets, such as `scare.01`. It is the first one after the fixed
    columns, or the second one if the first only flags the predicates with `Y`. Returns `None` if
    there are only the fixed columns, as in some files at sentences without predicates.
    """
    if any(row.columns[_FLAG_OF_FIRST_PROPOSITIONS] == "Y" for row in rows):
        return _FLAG_OF_FIRST_PROPOSITIONS + 1
    if len(rows[0].columns) == _FIXED_COLUMNS:
        return None
    column = _FIXED_COLUMNS
    if _is_conll2009(rows):
        column = _FIXED_COLUMNS_2009
    values = {row.columns[column] for row in rows}
    may_be_flags = values <= _FLAGS and len(rows[0].columns) > column + 1
    if not may_be_flags:
        return column
    if "Y" in values:
        return column + 1
    # All values are `_`. In a sentence without a predicate, neither flags nor framesets are given.
    next_values = {row.columns[column + 1] for row in rows}
    if next_values == {"_"}:
        return column + 1
    return column  # the next column has arguments, so this one has the framesets


def _is_conll2009(rows: Sequence[Row]) -> bool:
    """
    Returns whether the columns are CoNLL-2009's: two of them have heads, and a later one flags the
    predicates.
    """
    fewest_columns = _FIXED_COLUMNS_2009 + 2  # with the flag and the frameset
    if len(rows[0].columns) < fewest_columns:
        return False
    heads = [row.columns[column] for row in rows for column in _HEADS_2009]
    if not all(head.isdecimal() or head == "_" for head in heads):
        return False
    flags = {row.columns[_FIXED_COLUMNS_2009] for row in rows}
    if not flags <= _FLAGS:
        return False
    # In CoNLL-U, all of these columns may be blank, but another column has the heads.
    has_no_heads = all(head == "_" for head in heads)
    has_heads_of_conllu = all(row.columns[_HEAD].isdecimal() for row in rows)
    return not (has_no_heads and has_heads_of_conllu)


def _is_marked(cell: str) -> bool:
    """Returns whether a cell has an annotation."""
    return cell not in NO_ANNOTATION


def arguments_of_heads(predicate: int, labels: Sequence[str], report: Report) -> list[Span]:
    """
    Returns the arguments of the predicate at an index, and `V` for the predicate itself. The labels
    are the predicate's column, with one label for each word.
    """
    spans = []
    for index, label in enumerate(labels):
        if index == predicate:
            spans.append(Span(index, index + 1, VERB))
            if _is_marked(label) and label != VERB:
                report.took("arguments that are the predicate itself are left out")
        elif _is_marked(label):
            spans.append(Span(index, index + 1, label))
    return spans
