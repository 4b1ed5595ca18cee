"""Universal Propositions: CoNLL-U Plus, with columns that its first line names."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.integers import DIGITS
from elmo_plugin.importers.loose_columns import Row, numbered_sentences
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.srl_example import with_verb
from elmo_plugin.tasks.conll2012 import NO_ANNOTATION
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span, checked_spans
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence

BEGINNING_OF_UNIVERSAL = "# global.columns"
_NUMBER = "ID"
_FORM = "FORM"
_PREDICATE = "UP:PRED"
_ARGUMENTS = "UP:ARGSPANS"
_NAMES = (_NUMBER, _FORM, _PREDICATE, _ARGUMENTS)
_HEADS = "PB:ARGS"
# English of the first Universal Propositions has other names for two columns.
_FIRST_NAMES = {"PB:PRED": _PREDICATE, _HEADS: _ARGUMENTS}
_SPAN = re.compile(rf"(?P<role>.+):(?P<first>{DIGITS})-(?P<last>{DIGITS})")
_HEAD = re.compile(rf"(?P<role>.+):(?P<word>{DIGITS})")


class _Word(NamedTuple):
    """The cells of a word in the columns that are needed."""

    number: str
    form: str
    predicate: str
    arguments: str


def read_universal(lines: Sequence[Line], report: Report) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence. The first line of the file that is not
    blank names the columns. Arguments such as `A0:1-1|A1:3-7` have the numbers of their first and
    last words; in English of the first Universal Propositions, `A0:1|A1:5` have those of their
    heads, and each argument is one word.

    Raises `ConfigurationError`, naming file and line, if a column is missing or a line is
    malformed.
    """
    header = next(line for line in lines if line.text.strip())
    _, _, listed_names = header.text.partition("=")  # `# global.columns = ID FORM UP:PRED …`
    has_heads = _HEADS in listed_names.split()
    names = [_FIRST_NAMES.get(name, name) for name in listed_names.split()]
    if not set(_NAMES) <= set(names):
        raise header.error(
            f"expected the columns {', '.join(_NAMES)}, got {', '.join(names)}; "
            "Universal Propositions come without words: their tool merge_ud_up.py adds the words"
        )
    if has_heads:
        report.took("each argument is one word, its head, as these columns mark it")
    for rows in numbered_sentences(lines):
        yield rows[0].line, _sentence_of(rows, names, has_heads)


def _sentence_of(rows: Sequence[Row], names: Sequence[str], has_heads: bool) -> SrlSentence:
    """
    Returns the sentence of some rows, given the names of all columns, and whether arguments have
    the numbers of their heads. Raises `ConfigurationError`, naming file and line, if a row is
    malformed.
    """
    words = []
    predicates = []
    for index, row in enumerate(rows):
        word = _read_word(row, names)
        if word.number != str(index + 1):
            raise row.line.error(
                f"expected word {index + 1} of a sentence, got {word.number}; a blank line ends a "
                "sentence"
            )
        words.append(word.form)
        arguments = _parse_arguments(word.arguments, row.line, has_heads)
        if word.predicate in NO_ANNOTATION:
            if arguments:
                raise row.line.error(f"{word.arguments!r} are arguments without a predicate")
            continue
        arguments = with_verb(arguments, index)
        with as_configuration_error(row.line.location):
            arguments = checked_spans(arguments, len(rows))
        predicates.append(Predicate(index, word.form, arguments))
    return SrlSentence(words, predicates, rows[0].line.location)


def _read_word(row: Row, names: Sequence[str]) -> _Word:
    """
    Returns the word of a row, given the names of all columns. Raises `ConfigurationError`, naming
    file and line, if the row has more or fewer columns.
    """
    if len(row.columns) != len(names):
        raise row.line.error(
            f"expected {len(names)} columns ({', '.join(names)}), got {len(row.columns)}"
        )
    values = dict(zip(names, row.columns, strict=True))
    return _Word(
        number=values[_NUMBER],
        form=values[_FORM],
        predicate=values[_PREDICATE],
        arguments=values[_ARGUMENTS],
    )


def _parse_arguments(cell: str, line: Line, has_heads: bool) -> list[Span]:
    """
    Returns the arguments of a predicate, from a cell such as `A0:1-1|A1:3-7` or, with heads,
    `A0:1|A1:5`. Raises `ConfigurationError`, naming file and line, if the cell is malformed.
    """
    arguments = []
    for text in cell.split("|"):
        if text in NO_ANNOTATION:
            continue
        if has_heads:
            arguments.append(_parse_head(text, line))
        else:
            arguments.append(_parse_span(text, line))
    return arguments


def _parse_span(text: str, line: Line) -> Span:
    """Returns an argument such as `A1:3-7`. Raises `ConfigurationError` if it is malformed."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise line.error(f"expected arguments such as A0:1-1|A1:3-7, got {text!r}")
    start = int(match["first"]) - 1  # words are numbered from 1
    return Span(start, int(match["last"]), match["role"])


def _parse_head(text: str, line: Line) -> Span:
    """Returns an argument such as `A1:5`. Raises `ConfigurationError` if it is malformed."""
    match = _HEAD.fullmatch(text)
    if match is None:
        raise line.error(f"expected arguments such as A0:1|A1:5, got {text!r}")
    word = int(match["word"])  # words are numbered from 1
    return Span(word - 1, word, match["role"])
