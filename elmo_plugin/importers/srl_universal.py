"""Universal Propositions: CoNLL-U Plus, with columns that its first line names."""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import NamedTuple

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.importers.loose_columns import Row, numbered_sentences
from elmo_plugin.tasks.conll2012 import NO_ANNOTATION
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span, checked_spans
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence

BEGINNING = "# global.columns"
_NAMES = ("ID", "FORM", "UP:PRED", "UP:ARGSPANS")
_SPAN = re.compile(r"([^|]+):(\d+)-(\d+)")


class _Columns(NamedTuple):
    """The columns of a word that are read."""

    number: str
    form: str
    predicate: str
    arguments: str


def read_universal(lines: Sequence[Line]) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence. Arguments such as `A0:1-1|A1:3-7` have
    the numbers of their first and last words. All predicates are verbs.

    Raises `ConfigurationError`, naming file and line, if a column is missing or a line is
    malformed.
    """
    lines = list(dropwhile(lambda line: not line.text.strip(), lines))
    names = lines[0].text.partition("=")[2].split()
    if not set(_NAMES) <= set(names):
        raise lines[0].error(
            f"expected the columns {', '.join(_NAMES)}, got {', '.join(names)}; "
            "Universal Propositions come without words: their tool merge_ud_up.py adds the words"
        )
    for rows in numbered_sentences(lines[1:]):
        yield rows[0].line, _sentence_of(rows, names)


def _sentence_of(rows: Sequence[Row], names: Sequence[str]) -> SrlSentence:
    """Returns the sentence of some rows. Raises errors as `read_universal` does."""
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
        if not any(start <= index < end for start, end, _ in arguments):
            arguments.append(Span(index, index + 1, VERB))
        with as_configuration_error(row.line.location):
            arguments = checked_spans(arguments, len(rows))
        predicates.append(Predicate(index, columns.form, arguments))
    return SrlSentence(words, predicates, rows[0].line.location)


def _read_columns(row: Row, names: Sequence[str]) -> _Columns:
    """Returns the columns of a row that are read, given the names of all columns."""
    if len(row.columns) != len(names):
        raise row.line.error(
            f"expected {len(names)} columns ({', '.join(names)}), got {len(row.columns)}"
        )
    return _Columns(*(row.columns[names.index(name)] for name in _NAMES))


def _arguments_of(columns: _Columns, line: Line) -> list[Span]:
    """Returns the arguments of a predicate, from spans such as `A0:1-1|A1:3-7`."""
    if _SPAN.sub("", columns.arguments).strip("|_"):
        raise line.error(f"expected arguments such as A0:1-1|A1:3-7, got {columns.arguments!r}")
    return [
        Span(int(first) - 1, int(last), role)
        for role, first, last in _SPAN.findall(columns.arguments)
    ]
