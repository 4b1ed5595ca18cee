"""
Semantic roles of single words, the heads of arguments: CoNLL-2009, CoNLL-2008, and CoNLL-U with
columns of PropBank, as the first Universal Propositions have them.
"""

from collections.abc import Iterator, Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.loose_columns import Row, check_lengths, numbered_sentences
from elmo_plugin.importers.report import Report
from elmo_plugin.tasks.conll2012 import NO_ANNOTATION
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence

_FORM = 1
_FIXED_COLUMNS = 10  # before the columns of predicates, in CoNLL-U and CoNLL-2008
_FIXED_COLUMNS_2009 = 12
_HEADS_2009 = (8, 9)
_FLAGS = {"Y", "_"}  # of a column that only says whether a word is a predicate


def is_dependencies(lines: Sequence[Line]) -> bool:
    """Returns whether the first word has the number 1, and columns after the ten of CoNLL-U."""
    for line in lines:
        if line.text.strip() and not line.text.startswith("#"):
            columns = line.text.rstrip("\r\n").split("\t")
            return columns[0] == "1" and len(columns) > _FIXED_COLUMNS
    return False


def read_dependencies(lines: Sequence[Line], report: Report) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence. Each argument is one word, its head.

    Raises `ConfigurationError`, naming file and line, if a sentence has not a column of arguments
    for each of its predicates.
    """
    report.took("each argument is one word, its head, as these columns mark it")
    for rows in numbered_sentences(lines):
        check_lengths(rows)
        yield rows[0].line, _sentence_of(rows, report)


def _sentence_of(rows: Sequence[Row], report: Report) -> SrlSentence:
    """Returns the sentence of some rows. Raises errors as `read_dependencies` does."""
    column = _column_of_predicates(rows)
    # The positions of the predicates: words with a frameset.
    framed = [index for index, row in enumerate(rows) if _is_marked(row.columns[column])]
    width = len(rows[0].columns)
    num_arguments = width - column - 1
    has_blank_column = num_arguments == 1 and not framed
    if num_arguments != len(framed) and not has_blank_column:
        raise _other_number(rows[0].line, len(framed), num_arguments)
    predicates = []
    # A blank column without a predicate, see above, is left over.
    for word, arguments in zip(framed, range(column + 1, width), strict=False):
        labels = [row.columns[arguments] for row in rows]
        lemma = rows[word].columns[column].partition(".")[0]
        predicates.append(Predicate(word, lemma, _spans(word, labels, report)))
    words = [row.columns[_FORM] for row in rows]
    return SrlSentence(words, predicates, rows[0].line.location)


def _other_number(line: Line, predicates: int, columns: int) -> ConfigurationError:
    """Returns the error that predicates and columns of arguments differ in number."""
    return line.error(
        f"the sentence that begins here has {predicates} predicates, but {columns} columns of "
        "arguments"
    )


def _column_of_predicates(rows: Sequence[Row]) -> int:
    """Returns the column with the framesets, such as `scare.01`."""
    column = _FIXED_COLUMNS
    if _is_conll2009(rows):
        column = _FIXED_COLUMNS_2009
    flags = {row.columns[column] for row in rows}
    has_flags = flags <= _FLAGS and len(rows[0].columns) > column + 1
    if not has_flags:
        return column
    next_column = {row.columns[column + 1] for row in rows}
    # A column of `_` alone may be flags too: then the framesets, behind it, are all `_`.
    if "Y" in flags or next_column <= {"_"}:
        return column + 1
    return column


def _is_conll2009(rows: Sequence[Row]) -> bool:
    """Returns whether the columns are CoNLL-2009's, with two heads and a flag."""
    if len(rows[0].columns) < _FIXED_COLUMNS_2009 + 2:
        return False
    for row in rows:
        heads = [row.columns[column] for column in _HEADS_2009]
        if not all(head.isdecimal() or head == "_" for head in heads):
            return False
    return {row.columns[_FIXED_COLUMNS_2009] for row in rows} <= _FLAGS


def _is_marked(cell: str) -> bool:
    """Returns whether a cell has an annotation."""
    return cell not in NO_ANNOTATION


def _spans(predicate: int, labels: Sequence[str], report: Report) -> list[Span]:
    """Returns the arguments of a predicate, and `V` at the predicate itself."""
    spans = []
    for index, label in enumerate(labels):
        if index == predicate:
            spans.append(Span(index, index + 1, VERB))
            if _is_marked(label):
                report.took("arguments that are the predicate itself are left out")
        elif _is_marked(label):
            spans.append(Span(index, index + 1, label))
    return spans
