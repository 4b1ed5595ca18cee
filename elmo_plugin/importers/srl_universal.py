"""Universal Propositions: CoNLL-U Plus, with columns that its first line names."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.integers import DIGITS
from elmo_plugin.importers.loose_columns import Row, numbered_sentences
from elmo_plugin.tasks.conll2012 import NO_ANNOTATION
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span, checked_spans
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence

BEGINNING_OF_UNIVERSAL = "# global.columns"
_NUMBER = "ID"
_FORM = "FORM"
_PREDICATE = "UP:PRED"
_ARGUMENTS = "UP:ARGSPANS"
_NAMES = (_NUMBER, _FORM, _PREDICATE, _ARGUMENTS)
_SPAN = re.compile(rf"(?P<role>.+):(?P<first>{DIGITS})-(?P<last>{DIGITS})")


class _Columns(NamedTuple):
    """The columns of a word that are read."""

    number: str
    form: str
    predicate: str
    arguments: str


def read_universal(lines: Sequence[Line]) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence. The first line of the file that is not
    blank names the columns. Arguments such as `A0:1-1|A1:3-7` have the numbers of their first and
    last words. All predicates are verbs.

    Raises `ConfigurationError`, naming file and line, if a column is missing or a line is
    malformed.
    """
    header = next(line for line in lines if line.text.strip())
    names = header.text.partition("=")[2].split()
    if not set(_NAMES) <= set(names):
        raise header.error(
            f"expected the columns {', '.join(_NAMES)}, got {', '.join(names)}; "
            "Universal Propositions come without words: their tool merge_ud_up.py adds the words"
        )
    for rows in numbered_sentences(lines):
        yield rows[0].line, _sentence_of(rows, names)


def _sentence_of(rows: Sequence[Row], names: Sequence[str]) -> SrlSentence:
    """
    Returns the sentence of some rows, given the names of all columns. Raises `ConfigurationError`,
    naming file and line, if a row is malformed.
    """
    words = []
    predicates = []
    for index, row in enumerate(rows):
        columns = _read_columns(row, names)
        if columns.number != str(index + 1):
            raise row.line.error(
                f"expected word {index + 1} of a sentence, got {columns.number}; a blank line ends "
                "a sentence"
            )
        words.append(columns.form)
        if columns.predicate in NO_ANNOTATION:
            continue  # an ordinary word
        arguments = _arguments_of(columns, row.line)
        # Inside another argument, the predicate is not added: such a sentence is left out later.
        if not any(start <= index < end for start, end, _ in arguments):
            arguments.append(Span(index, index + 1, VERB))
        with as_configuration_error(row.line.location):
            arguments = checked_spans(arguments, len(rows))
        predicates.append(Predicate(index, columns.form, arguments))
    return SrlSentence(words, predicates, rows[0].line.location)


def _read_columns(row: Row, names: Sequence[str]) -> _Columns:
    """
    Returns the columns of a row that are read, given the names of all columns. Raises
    `ConfigurationError` if the row has more or fewer.
    """
    if len(row.columns) != len(names):
        raise row.line.error(
            f"expected {len(names)} columns ({', '.join(names)}), got {len(row.columns)}"
        )
    values = dict(zip(names, row.columns, strict=True))
    return _Columns(
        number=values[_NUMBER],
        form=values[_FORM],
        predicate=values[_PREDICATE],
        arguments=values[_ARGUMENTS],
    )


def _arguments_of(columns: _Columns, line: Line) -> list[Span]:
    """
    Returns the arguments of a predicate, from spans such as `A0:1-1|A1:3-7`. Raises
    `ConfigurationError` if they are malformed.
    """
    arguments = []
    for text in columns.arguments.split("|"):
        if text in ("", "_"):
            continue
        match = _SPAN.fullmatch(text)
        if match is None:
            raise line.error(f"expected arguments such as A0:1-1|A1:3-7, got {columns.arguments!r}")
        start = int(match["first"]) - 1  # words are numbered from 1
        end = int(match["last"])
        arguments.append(Span(start, end, match["role"]))
    return arguments
