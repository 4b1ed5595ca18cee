"""What readers and writers of CoNLL files share: errors, columns, marks of documents, escaped words."""

import re

FIXED_COLUMNS = 11  # then those of the predicates and, as the last, that of coreference
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_PLAIN = {**_BRACKETS, "``": '"', "''": '"', "/.": ".", "/?": "?"}  # the last two: OntoNotes
_ESCAPED = {plain: escaped for escaped, plain in _BRACKETS.items()}


class LabelError(ValueError):
    """A label, a tag or a span that cannot be where it is; `row` is the word that it belongs to."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def kind_of_row(columns: list[str]) -> str:
    """
    Returns what a line is.

    # Parameters

    columns : `list[str]`
        See `Line.columns`.

    # Returns

    `str`
        "blank", "mark" for `#begin document` and `#end document`, or "word".
    """
    if not columns:
        return "blank"
    return "mark" if columns[0] in ("#begin", "#end") and columns[1:2] == ["document"] else "word"


def unescape_word(word: str) -> str:
    """
    Returns a word as it is in plain text, without the escapes of the Penn Treebank and OntoNotes: `(` for
    `-LRB-`, `1/2` for `1\\/2`, and `"` for two back ticks or apostrophes.
    """
    return _PLAIN.get(word, word).replace("\\/", "/").replace("\\*", "*")


def escape_word(word: str) -> str:
    """Returns a word as it can be in a column: `-LRB-` for `(`. Raises `ValueError` where it cannot be."""
    if not re.fullmatch(r"\S+", word, re.ASCII):
        raise ValueError(f"{word!r} cannot be written in a column")
    return _ESCAPED.get(word, word)
