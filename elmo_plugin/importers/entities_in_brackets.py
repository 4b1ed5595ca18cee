"""The entities of OntoNotes: spans in brackets in a column of CoNLL-2012."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.loose_columns import (
    DOCUMENT_COLUMN,
    ENTITY_COLUMN,
    NUMBER_COLUMN,
    WORD_COLUMN,
    Row,
    split_rows,
)
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS, line_kind, unescape_word
from elmo_plugin.tasks.dataset_reader import Line

_FEWEST_COLUMNS = FIXED_COLUMNS + 1  # with the one of coreference
_FIRST_LINES = 1000  # so many lines show the form of a file
# An entity begins as in `(PER*` and ends as in `*)`. One word is `(PER)`, and others have `*`.
_BRACKETS = re.compile(r"(\((?P<label>[^()*\s]+))?\*?(?P<end>\))?")


def has_brackets(source: TaggedFile) -> bool:
    """
    Returns whether the first lines of a file look like CoNLL-2012's. If the options choose a column
    of tags, they mean one of the other columns.
    """
    if "tag" in source.options.columns:
        return False
    has_rows = False
    for rows in _sentences(source.file, source.lines[:_FIRST_LINES]):
        for row in rows:
            has_rows = True
            if len(row.columns) < _FEWEST_COLUMNS or not row.columns[NUMBER_COLUMN].isdecimal():
                return False
            if _BRACKETS.fullmatch(row.columns[ENTITY_COLUMN]) is None:
                return False
    return has_rows


def sentences_with_brackets(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences, with entities in BIO. Raises `ConfigurationError`, naming file and line,
    if columns are missing, or a bracket is malformed or lacks its other half.
    """
    for rows in _sentences(source.file, source.lines):
        yield _tagged_sentence(rows)


def _sentences(file: str, texts: Sequence[str]) -> Iterator[list[Row]]:
    """Yields the rows of each sentence. Blank lines and the marks of documents separate them."""
    lines = [Line(text, file, number) for number, text in enumerate(texts, start=1)]
    for kind, group in groupby(lines, key=line_kind):
        if kind != "word":
            continue
        rows = split_rows(list(group))
        if not _are_comments(rows):
            yield rows


def _are_comments(rows: Sequence[Row]) -> bool:
    """
    Returns whether rows are no words but comments, such as a license above the documents. The name
    of a document may begin with #, but its words have a number.
    """
    for row in rows:
        has_number = len(row.columns) >= _FEWEST_COLUMNS and row.columns[NUMBER_COLUMN].isdecimal()
        if has_number or not row.line.text.startswith("#"):
            return False
    return True


def _tagged_sentence(rows: Sequence[Row]) -> TaggedSentence:
    """
    Returns a sentence with its entities in BIO. Raises `ConfigurationError` for the reasons that
    `sentences_with_brackets` gives.
    """
    words: list[str] = []
    tags: list[str] = []
    open_label = ""  # the type of the entity whose bracket is open
    for row in rows:
        label, closes = _parse_brackets(row, open_label)
        words.append(unescape_word(row.columns[WORD_COLUMN]))
        if label:
            open_label = label
            tags.append(f"B-{label}")
        elif open_label:
            tags.append(f"I-{open_label}")
        else:
            tags.append("O")
        if closes:
            open_label = ""
    last = rows[-1]
    if open_label:
        raise last.line.error(f"expected the closing bracket of {open_label!r}")
    places = [row.line.place for row in rows]
    return TaggedSentence(places, words, tags, document=last.columns[DOCUMENT_COLUMN])


def _parse_brackets(row: Row, open_label: str) -> tuple[str, bool]:
    """
    Returns the type of the entity that begins at a word, or an empty text, and whether an entity
    ends there. Raises `ConfigurationError` if this is impossible after `open_label`, the type of
    the entity whose bracket is open.
    """
    if len(row.columns) < _FEWEST_COLUMNS:
        raise row.line.error(
            f"expected the columns of CoNLL-2012, at least {_FEWEST_COLUMNS}, got "
            f"{len(row.columns)}"
        )
    match = _BRACKETS.fullmatch(row.columns[ENTITY_COLUMN])
    if match is None:
        raise _bracket_error(row)
    label = match["label"] or ""
    closes = match["end"] is not None
    opens_inside_another = label and open_label
    closes_nothing = closes and not label and not open_label
    if opens_inside_another or closes_nothing:
        raise _bracket_error(row)
    return label, closes


def _bracket_error(row: Row) -> ConfigurationError:
    """Returns the error that a word lacks an entity in brackets that is possible there."""
    entity = row.columns[ENTITY_COLUMN]
    return row.line.error(f"expected an entity in brackets, got {entity!r}")
