"""Shared by readers and writers of CoNLL files: errors, columns, marks of documents, escaped words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import Line, Row

FIXED_COLUMNS = 11  # then the columns of the predicates and, as the last, the column of coreference
FOLDER_PATTERNS = ("*gold_conll", "*auto_conll", "*.conll", "*.jsonl")
TAB_HINT = "columns with spaces are separated by tabs"
NO_ANNOTATION = ("-", "_", "*", "")  # in a column of a word without an annotation
_MARK = re.compile(r"\s*#\s*(?P<kind>begin|end) document\b\s*(?P<title>.*?)\s*", re.ASCII | re.DOTALL)
_MENTION = re.compile(r"[^*]*[()][^*]*")
_MENTION_OR_NONE = re.compile(r"[-_]|[^*]*[()][^*]*")
_ARGUMENT = re.compile(r"\([^()]+\*|\*\S*\)")
_LABEL = re.compile(r"[-_]?|\S*[()*]\S*")
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


def line_kind(line: Line) -> str:
    """Returns "blank", "begin" or "end" for the marks of a document, or "word"."""
    match = _MARK.fullmatch(line.text) if "#" in line.text else None
    return match["kind"] if match else "blank" if line.text.isspace() or not line.text else "word"


def document_title(begin: Line) -> str:
    """Returns the rest of a line `#begin document …`."""
    match = _MARK.fullmatch(begin.text)
    return match["title"] if match else ""


def split_sentence(lines: Sequence[Line]) -> list[Row]:
    """
    Splits the lines of a sentence into columns: at tabs, so that a column may have spaces or be empty, if all
    words have tabs, otherwise at white space. Skips comments. Adds the last column, coreference, to a line
    that lacks only this one.
    """
    words = [line for line in lines if not line.text.startswith("#")] or lines
    use_tabs = all("\t" in line.text for line in words)
    if use_tabs and words[0].text.count("\t") + 1 < FIXED_COLUMNS:  # a mixture of both?
        use_tabs = len(words[0].columns) <= FIXED_COLUMNS
    rows = [(line, _split_at_tabs(line) if use_tabs else line.columns) for line in lines]
    if lines[0].text.startswith("#") or len(words) < len(lines):
        lengths = [len(row) for line, row in rows if words is lines or not line.text.startswith("#")]
        usual = max(lengths, key=lengths.count)
        rows = [(line, row) for line, row in rows if line.text[0] != "#" or _is_word(row, usual)]
    if use_tabs:
        _drop_last_tabs([row for _, row in rows])
    width = max((len(row) for _, row in rows), default=0)
    is_last = _MENTION if use_tabs else _MENTION_OR_NONE
    for row in (row for _, row in rows if len(row) == width - 1):
        if not is_last.fullmatch(row[-1]):
            row.append("-")
    return rows


def is_predicate(labels: Iterable[str]) -> bool:
    """Returns whether labels are those of a predicate. Mentions have no `*` next to their brackets."""
    return any(map(_ARGUMENT.search, labels))


def _split_at_tabs(line: Line) -> list[str]:
    return [column.strip(" \r\n") for column in line.text.split("\t")]


def _drop_last_tabs(rows: list[list[str]]) -> None:
    """Removes a blank last column in some rows only, or next to the column of coreference."""
    lengths = list(map(len, rows))
    usual = max(lengths, key=lengths.count, default=0)
    while usual > 2 and not any(row[usual - 1] for row in rows if len(row) >= usual):
        before = {row[usual - 2] for row in rows if len(row) >= usual}.difference("-_", [""])
        if not before or not all(map(_MENTION.fullmatch, before)):
            break
        usual -= 1
    for row in rows:
        while len(row) > usual and not row[-1]:
            row.pop()


def _is_word(columns: list[str], length: int) -> bool:
    """Returns whether a line that begins with # is a word, not a comment."""
    return len(columns) == length and bool(_LABEL.fullmatch(columns[-1]))


def unescape_words(rows: Sequence[Row], words: Sequence[str]) -> list[str]:
    """
    Returns the words of a sentence, with brackets and quotation marks as in plain text. Raises
    `ConfigurationError` if the file is a skeleton.
    """
    if set(words) == {"[WORD]"}:
        raise ConfigurationError(
            f"{rows[0][0].location}: the words are missing, [WORD]: make a gold_conll of this gold_skel first"
        )
    return [unescape_word(word) for word in words]


def unescape_word(word: str) -> str:
    """Removes the escapes of the Penn Treebank and OntoNotes: such as `-LRB-` for `(`."""
    return _PLAIN.get(word, word).replace("\\/", "/").replace("\\*", "*")


def escape_word(word: str) -> str:
    """
    Returns a word in the form of a column between tabs: `-LRB-` for `(`. Raises `ValueError` if it is blank,
    or has white space other than spaces between its parts.
    """
    if not re.fullmatch(r"\S+( +\S+)*", word, re.ASCII):
        raise ValueError(f"{word!r} cannot be written in a column")
    return _ESCAPED.get(word, word)
