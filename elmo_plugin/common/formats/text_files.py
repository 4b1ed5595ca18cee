"""The lines of a text file, compressed or not, with errors that name the file and the line."""

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from io import BufferedIOBase
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import zstandard

from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import reason
from elmo_plugin.common.formats.not_sentences import kind_of_data
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.typography import BYTE_ORDER_MARK

logger = get_logger(__name__)

MAX_LINE_BYTES = 2**28
MAX_BLANK_LINES = 1_000_000  # so many in succession are refused
_ZSTD_CHUNK_BYTES = 512  # unpacked at a time; each of them may become 33,000 bytes
_BOM = BYTE_ORDER_MARK.encode()  # some editors write it
_SENTENCE_ENDS = (".", "?", "!", "…", "؟", "।", "。", "！", "？")  # noqa: RUF001
# The first bytes of files that are not text, or are packed without the suffix that says so.
_FORMAT_BY_FIRST_BYTES = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip without .gz",
    b"\x28\xb5\x2f\xfd": "zstd without .zst",
    b"\x89HDF": "HDF5",
    b"%PDF": "PDF",
    b"\xd0\xcf\x11\xe0": "an old .xls or .doc",
    b"ARROW1": "arrow",
}
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def compression(path: str) -> str:
    """Returns the suffix of a compressed file, `.gz` or `.zst`; for other files an empty string."""
    for suffix in (".gz", ".zst"):
        if path.endswith(suffix):
            return suffix
    return ""


def suffix_of(path: str) -> str:
    """Returns the suffix of a file in small letters, without the one of its compression."""
    return Path(path.removesuffix(compression(path))).suffix.lower()


def read_lines(path: str) -> Iterator[bytes]:
    """
    Yields the lines of a file or URL, without a byte order mark. Unpacks `.gz` and `.zst`.

    Raises `BiLmError` if the file cannot be read or is in a binary format. Also refuses a line that
    is longer than `MAX_LINE_BYTES`, and more than `MAX_BLANK_LINES` blank lines in succession.
    """
    suffix = compression(path)
    opener = gzip.open if suffix == ".gz" else open
    try:
        with opener(fetch(path), "rb") as file:
            lines = _zstd_lines(file) if suffix == ".zst" else _lines(file)
            yield from _text_lines(lines, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BiLmError(f"{path}: not a whole gzip file ({error})") from None
    except zstandard.ZstdError as error:
        raise BiLmError(f"{path}: not a whole zstd file ({error})") from None
    except FileNotFoundError:
        raise BiLmError(f"{path}: file not found") from None
    except OSError as error:
        raise BiLmError(f"{path}: cannot be read ({reason(error)})") from None


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


def sentence_place(name: str, number: int, column: int | None = None) -> str:
    """
    Returns the place of a sentence for messages. `number` counts the sentences that
    `sentence_lines` yields, from 1. In a text it is also the number of the line. In a table a
    sentence has several lines, so there the place names the sentence.
    """
    unit = "line" if column is None else "sentence"
    return f"{name}, {unit} {number}"


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
            warn_of_long_sentence(name, len(words))
            yield b" ".join(words) + b"\n"
            words = []


def _ends_sentence(line: bytes) -> bool:
    """Returns whether a line of a table ends a sentence: a blank line, or CoNLL's document mark."""
    return not line.strip() or line.startswith(b"-DOCSTART-")


def _fields_of_row(line: bytes) -> list[bytes]:
    """Returns the fields of a row: between tabs if it has any, else between white space."""
    if b"\t" in line:
        return line.strip(b"\r\n").split(b"\t")
    return line.split()


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


def _are_word_numbers(numbers: Sequence[bytes]) -> bool:
    """Returns whether these are the numbers of words in their sentences, as CoNLL-U has them."""
    return b"1" in numbers and all(_NUMBER.fullmatch(number) for number in numbers)


def has_attached_full_stop(word: str) -> bool:
    """
    Returns whether a full stop, or another mark that ends sentences, is attached to a word. In
    tokenized text, the mark is a separate word.
    """
    is_mark_alone = len(word) == 1
    return word.endswith(_SENTENCE_ENDS) and not is_mark_alone


def warn_of_long_sentence(name: str, num_words: int) -> None:
    """Warns of a sentence in a table that is likely a whole document."""
    if num_words > _MOST_WORDS:
        logger.warning("%s: a sentence of %d words; a blank line ends a sentence", name, num_words)


def standard_input_lines() -> Iterator[bytes]:
    """
    Yields standard input's lines as `read_lines` does. Raises `BiLmError` if it is closed or empty.
    """
    if sys.stdin is None:
        raise BiLmError("standard input is closed")
    lines = _text_lines(_lines(sys.stdin.buffer), "standard input")
    first = next(lines, None)
    if first is None:
        raise BiLmError("standard input is empty")
    yield from chain([first], lines)


def _text_lines(lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    """
    Yields lines without a byte order mark. Raises `BiLmError` for the lines that `read_lines`
    refuses.
    """
    num_blank = 0  # blank lines in succession, up to the current one
    for number, line in enumerate(lines, start=1):
        if number == 1:
            _check_first_bytes(line, name)
            line = line.removeprefix(_BOM)
        if line.isspace():
            num_blank += 1
        else:
            num_blank = 0
        found = ""
        if num_blank > MAX_BLANK_LINES:
            found = f"{num_blank:,} blank lines"
        elif len(line) > MAX_LINE_BYTES:
            found = f"more than {MAX_LINE_BYTES:,} bytes"
        if found:
            raise BiLmError(f"{name}, line {number}: expected a line of text, got {found}")
        yield line


def _check_first_bytes(first_line: bytes, name: str) -> None:
    """Raises `BiLmError` if the first line of a file begins as another format than UTF-8 does."""
    found = format_of_bytes(first_line)
    if first_line.startswith(_UTF_16_MARKS):
        found = "UTF-16"
    if found is not None:
        raise BiLmError(f"{name}: expected text in UTF-8, plain or in .gz or .zst, got {found}")


def format_of_bytes(content: bytes) -> str | None:
    """Returns the format, other than text, whose files begin as the content does, or `None`."""
    for first_bytes, file_format in _FORMAT_BY_FIRST_BYTES.items():
        if content.startswith(first_bytes):
            return file_format
    return None


def _lines(file: BinaryIO | BufferedIOBase) -> Iterator[bytes]:
    """
    Yields the lines of a file. Reads only one byte more of a line than `MAX_LINE_BYTES` allows,
    because a small packed file may have a line of gigabytes; `_text_lines` then refuses the line.
    """
    read_line = partial(file.readline, MAX_LINE_BYTES + 1)
    return iter(read_line, b"")  # calls it until it returns nothing, at the end of the file


def _zstd_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Yields the lines of a zstd file, up to the first one that is too long."""
    rest = bytearray()  # the beginning of a line whose end was not read yet
    for chunk in _zstd_chunks(file):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            yield bytes(rest) + line + b"\n"
            rest.clear()
        rest += last
        if len(rest) > MAX_LINE_BYTES:
            break  # `_text_lines` will refuse this line, and its end may be gigabytes away
    if rest:
        yield bytes(rest)


def _zstd_chunks(file: BufferedIOBase) -> Iterator[bytes]:
    """
    Yields the content of a zstd file, piece by piece. Raises `ZstdError` if the file ends in the
    middle of a frame: the library's own reader would not notice that its end is missing.
    """
    frame = None
    while compressed := file.read(_ZSTD_CHUNK_BYTES):
        while compressed:
            if frame is None:
                frame = zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(compressed)
            compressed = frame.unused_data  # the bytes behind the end of the frame
            if frame.eof:
                frame = None
    if frame is not None:
        raise zstandard.ZstdError("the file ends in the middle of a frame")


def decode(text: bytes, location: str, keep_marks: bool = False) -> str:
    """
    Decodes UTF-8 text. Drops its byte order marks, unless `keep_marks` is true. Raises `BiLmError`,
    beginning with the `location`, if the text is not UTF-8 or has the character NUL.
    """
    if b"\0" in text:
        raise BiLmError(f"{location}: not text, as it has the character NUL")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BiLmError(f"{location}: not UTF-8 text ({error.reason})") from None
    if keep_marks:
        return decoded
    return decoded.replace(BYTE_ORDER_MARK, "")
