"""The sentences of a text, one in each line or a word in each row of a table, and their places."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.not_sentences import kind_of_data
from elmo_plugin.common.logs import get_logger

logger = get_logger(__name__)

_SENTENCE_ENDS = (".", "?", "!", "…", "؟", "।", "。", "！", "？")  # noqa: RUF001
_NUM_FIRST_LINES = 20  # by which the format of a file is recognized
# Advice about files that are no text, by a word in the name of their format.
_ADVICE_BY_WORD = {
    "columns": "--column N reads its words, from 0",
    "FASTA": "name its file .fasta, or --input-format fasta",
}
_MOST_WORDS = 500  # in a sentence; a longer one is likely a document
# Matches rows whose word is longer than "#" alone, and rows that end in the tag O. Any other line
# that begins with "#" looks like a comment.
_ROW_WITH_HASH = re.compile(rb"#\S|# .*\bO\s*$")
# The number of a word in CoNLL-U; contracted words and empty nodes have two.
_NUMBER = re.compile(rb"\d+([-.]\d+)?")


def sentence_lines(lines: Iterable[bytes], name: str, column: int | None = None) -> Iterator[bytes]:
    """
    Yields the sentences of a text, one in each line.

    Without a `column`, the lines are such sentences already, and are yielded unchanged. With the
    number of a `column`, they are a table with a word in each row. Its words up to a blank line are
    then one sentence; white space within a word becomes "_".

    Raises `BiLmError` if the lines are plainly in another format than sentences, or a row of the
    table lacks a word.
    """
    lines = iter(lines)
    if column is not None:
        yield from _sentences_in_column(lines, name, column)
        return
    first_lines = list(islice(lines, _NUM_FIRST_LINES))
    texts = [line.decode("utf-8", "ignore").strip("\r\n") for line in first_lines]
    kind = kind_of_data(texts)
    if kind:
        raise BiLmError(f"{name}: expected one sentence per line, got {kind}; {_advice_for(kind)}")
    yield from chain(first_lines, lines)


def _advice_for(kind: str) -> str:
    """Returns advice about a file of a format, as `kind_of_data` names the format."""
    for word, advice in _ADVICE_BY_WORD.items():
        if word in kind:
            return advice
    return "write its texts to a file, a sentence in each line"


def _sentences_in_column(lines: Iterator[bytes], name: str, column: int) -> Iterator[bytes]:
    """Yields the sentences of a table with a word in each row, as `sentence_lines` describes it."""
    first_lines = list(islice(lines, _NUM_FIRST_LINES))
    form = _form_of_rows(first_lines, column)
    words: list[bytes] = []
    # A blank line is added, because the table may end right after its last sentence.
    for number, line in enumerate(chain(first_lines, lines, [b"\n"]), start=1):
        if not _ends_sentence(line):
            fields = _fields_of_row(line)
            if _is_word_row(line, fields, form):
                words.append(_word_in(fields, column, f"{name}, line {number}"))
        elif words:
            _warn_of_long_sentence(name, len(words))
            yield b" ".join(words) + b"\n"
            words = []


class _RowForm(NamedTuple):
    """
    The form of a table with a word in each row.

    width: the number of fields between white space in the first row; 0 if no row was found
    is_numbered: whether the first column numbers the words of each sentence, as in CoNLL-U
    """

    width: int
    is_numbered: bool


def _form_of_rows(lines: Sequence[bytes], column: int) -> _RowForm:
    """Returns the form of a table with these first lines, whose words are in `column`."""
    rows = [line.split() for line in lines if line[:1] != b"#" and line.strip()]
    if not rows:
        return _RowForm(width=0, is_numbered=False)
    # If the words are in the first column, then numbers in it are words too.
    is_numbered = column != 0 and _are_word_numbers([row[0] for row in rows])
    return _RowForm(width=len(rows[0]), is_numbered=is_numbered)


def _are_word_numbers(numbers: Sequence[bytes]) -> bool:
    """Returns whether these are the numbers of words in their sentences, as CoNLL-U has them."""
    return b"1" in numbers and all(_NUMBER.fullmatch(number) for number in numbers)


def _ends_sentence(line: bytes) -> bool:
    """Returns whether a line of a table ends a sentence: a blank line, or CoNLL's document mark."""
    return not line.strip() or line.startswith(b"-DOCSTART-")


def _fields_of_row(line: bytes) -> list[bytes]:
    """Returns the fields of a row: between tabs if it has any, else between white space."""
    if b"\t" in line:
        return line.strip(b"\r\n").split(b"\t")
    return line.split()


def _is_word_row(line: bytes, fields: Sequence[bytes], form: _RowForm) -> bool:
    """
    Returns whether a line of a table has a word of the sentence. Comments have none. In CoNLL-U,
    two kinds of rows have none either: empty nodes, and contractions, whose words follow in other
    rows.
    """
    if form.is_numbered and not fields[0].isdigit():
        return False  # an empty node such as 8.1, a contraction such as 3-4, or a comment
    return not _is_comment(line, fields, form.width)


def _is_comment(line: bytes, fields: Sequence[bytes], width: int) -> bool:
    """
    Returns whether a line of a table is a comment. These lines begin with "#", but so may rows: a
    row has tabs, or as many fields as other rows and a word that begins with "#".
    """
    if line[:1] != b"#" or b"\t" in line:
        return False
    is_row = len(fields) == width and _ROW_WITH_HASH.match(line) is not None
    return not is_row


def _word_in(fields: Sequence[bytes], column: int, place: str) -> bytes:
    """
    Returns the word in a column of a row, with "_" for white space in it. A negative column counts
    from the last one. Raises `BiLmError`, beginning with `place`, if the row lacks the column, or
    it is blank.
    """
    if not -len(fields) <= column < len(fields):
        raise BiLmError(f"{place}: expected column {column} of {len(fields)}, from 0")
    # Bytes that are not UTF-8 are kept here: `decode` refuses them later, with a message.
    word = "_".join(fields[column].decode("utf-8", "surrogateescape").split())
    if not word:
        raise BiLmError(f"{place}: column {column} has no word")
    return word.encode("utf-8", "surrogateescape")


def _warn_of_long_sentence(name: str, num_words: int) -> None:
    """Warns of a sentence in a table that is likely a whole document."""
    if num_words > _MOST_WORDS:
        logger.warning("%s: a sentence of %d words; a blank line ends a sentence", name, num_words)


def sentence_place(name: str, number: int, column: int | None) -> str:
    """
    Returns the place of a sentence for messages. `number` counts the sentences that
    `sentence_lines` yields, from 1. In a text it is also the number of the line. In a table a
    sentence has several lines, so there the place names the sentence.
    """
    if column is None:
        return f"{name}, line {number}"
    return f"{name}, sentence {number}"


def has_attached_full_stop(word: str) -> bool:
    """
    Returns whether a full stop, or another mark that ends sentences, is attached to a word. In
    tokenized text, the mark is a separate word.
    """
    is_mark_alone = len(word) == 1
    return word.endswith(_SENTENCE_ENDS) and not is_mark_alone
