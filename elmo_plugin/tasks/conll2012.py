"""Shared by readers and writers of CoNLL files: errors, columns, marks of documents, escaped words."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import Row

FIXED_COLUMNS = 11  # then the columns of the predicates and, as the last, the column of coreference
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_PLAIN = {**_BRACKETS, "``": '"', "''": '"', "/.": ".", "/?": "?"}  # the last two: OntoNotes
_ESCAPED = {plain: escaped for escaped, plain in _BRACKETS.items()}


class LabelError(ValueError):
    """A label, a tag or a span that cannot be at its place: the word `row` of a sentence or document."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


@contextmanager
def locate_label_errors(rows: Sequence[Row], column: str = "") -> Iterator[None]:
    """Turns a `LabelError` into a `ConfigurationError` that begins with file, line and `column`."""
    try:
        yield
    except LabelError as error:
        raise ConfigurationError(f"{rows[error.row][0].location}: {column}{error}") from None


def row_kind(columns: list[str]) -> str:
    """Returns "blank", "mark" for `#begin document` and `#end document`, or "word"."""
    if not columns:
        return "blank"
    return "mark" if columns[0] in ("#begin", "#end") and columns[1:2] == ["document"] else "word"


def unescape_word(word: str) -> str:
    """Removes the escapes of the Penn Treebank and OntoNotes: such as `-LRB-` for `(`."""
    return _PLAIN.get(word, word).replace("\\/", "/").replace("\\*", "*")


def escape_word(word: str) -> str:
    """Returns a word in the form of a column: `-LRB-` for `(`. Raises `ValueError` if it has white space."""
    if not re.fullmatch(r"\S+", word, re.ASCII):
        raise ValueError(f"{word!r} cannot be written in a column")
    return _ESCAPED.get(word, word)
