"""The entities of OntoNotes: spans in brackets in a column of CoNLL-2012."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.conll2012 import unescape_word

# The columns of CoNLL-2012, counted from 0.
_DOCUMENT_COLUMN = 0
_NUMBER_COLUMN = 2  # the number of the word in its sentence
_WORD_COLUMN = 3
_ENTITY_COLUMN = 10
_FEWEST_COLUMNS = 12
_FIRST_ROWS = 1000  # so many rows show the form of a file
# An entity begins as in `(PER*` and ends as in `*)`. One word is `(PER)`, and others have `*`.
_BRACKETS = re.compile(r"(\((?P<label>[^()*\s]+))?\*?(?P<end>\))?")


class _Row(NamedTuple):
    """The line of a word: its place in the file, and its columns."""

    place: str
    columns: list[str]


def has_brackets(source: TaggedFile) -> bool:
    """
    Returns whether the first rows of a file look like CoNLL-2012's. If the options choose a column
    of tags, they mean one of the other columns.
    """
    if "tag" in source.options.columns:
        return False
    rows = [line.split() for line in source.lines if line.strip() and not line.startswith("#")]
    for row in rows[:_FIRST_ROWS]:
        if len(row) < _FEWEST_COLUMNS or not row[_NUMBER_COLUMN].isdecimal():
            return False
        if _BRACKETS.fullmatch(row[_ENTITY_COLUMN]) is None:
            return False
    return len(rows) > 0


def sentences_with_brackets(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences, with entities in BIO. Raises `ConfigurationError`, naming file and line,
    if columns are missing, or a bracket is malformed or lacks its other half.
    """
    rows: list[_Row] = []  # of the sentence that has not ended yet
    for number, line in enumerate(
        [*source.lines, ""], start=1
    ):  # a blank line ends the last sentence
        if line.startswith("#"):
            continue
        columns = line.split()
        if columns:
            rows.append(_Row(f"line {number}", columns))
        elif rows:
            yield _tagged_sentence(source.file, rows)
            rows = []


def _tagged_sentence(file: str, rows: Sequence[_Row]) -> TaggedSentence:
    """
    Returns a sentence with its entities in BIO. Raises `ConfigurationError` for the reasons that
    `sentences_with_brackets` gives.
    """
    words: list[str] = []
    tags: list[str] = []
    open_label = ""  # the type of the entity whose bracket is open
    for row in rows:
        label, closes = _parse_brackets(file, row, open_label)
        words.append(unescape_word(row.columns[_WORD_COLUMN]))
        if label:
            open_label = label
            tags.append(f"B-{label}")
        elif open_label:
            tags.append(f"I-{open_label}")
        else:
            tags.append("O")
        if closes:
            open_label = ""
    if open_label:
        raise ConfigurationError(
            f"{file}, {rows[-1].place}: expected the closing bracket of {open_label!r}"
        )
    places = [row.place for row in rows]
    return TaggedSentence(places, words, tags, document=rows[-1].columns[_DOCUMENT_COLUMN])


def _parse_brackets(file: str, row: _Row, open_label: str) -> tuple[str, bool]:
    """
    Returns the type of the entity that begins at a word, or an empty text, and whether an entity
    ends there. Raises `ConfigurationError` if this is impossible after `open_label`, the type of
    the entity whose bracket is open.
    """
    if len(row.columns) < _FEWEST_COLUMNS:
        raise ConfigurationError(
            f"{file}, {row.place}: expected the columns of CoNLL-2012, at least "
            f"{_FEWEST_COLUMNS}, got {len(row.columns)}"
        )
    entity = row.columns[_ENTITY_COLUMN]
    error = ConfigurationError(
        f"{file}, {row.place}: expected an entity in brackets, got {entity!r}"
    )
    match = _BRACKETS.fullmatch(entity)
    if match is None:
        raise error
    label = match["label"] or ""
    closes = match["end"] is not None
    opens_inside_another = label and open_label
    closes_nothing = closes and not label and not open_label
    if opens_inside_another or closes_nothing:
        raise error
    return label, closes
