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
_CHUNK = 1 << 9  # bytes of zstd at a time; each of them may unpack to 33,000
_BOM = BYTE_ORDER_MARK.encode()  # some editors write it
_SENTENCE_ENDS = (".", "?", "!", "…", "؟", "।", "。", "！", "？")  # noqa: RUF001
_NOT_TEXT = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip without .gz",
    b"\x28\xb5\x2f\xfd": "zstd without .zst",
    b"\x89HDF": "HDF5",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def compression(path: str) -> str:
    """Returns the suffix of a compressed file, `.gz` or `.zst`, or an empty string."""
    for suffix in (".gz", ".zst"):
        if path.endswith(suffix):
            return suffix
    return ""


def suffix_of(path: str) -> str:
    """Returns the suffix of a file in small letters, without the one of its compression."""
    return Path(path.removesuffix(compression(path))).suffix.lower()


def read_lines(path: str) -> Iterator[bytes]:
    """
    Yields the lines of a file or URL, maybe in `.gz` or `.zst`, without a byte order mark. Raises
    `BiLmError` if it cannot be read, or is not text, but binary, an endless line or a million blank
    lines.
    """
    kind = compression(path)
    opener = gzip.open if kind == ".gz" else open
    try:
        with opener(fetch(path), "rb") as file:
            lines = _zstd_lines(file) if kind == ".zst" else _lines(file)
            yield from _text_lines(lines, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BiLmError(f"{path}: not a whole gzip file ({error})") from None
    except zstandard.ZstdError as error:
        raise BiLmError(f"{path}: not a whole zstd file ({error})") from None
    except FileNotFoundError:
        raise BiLmError(f"{path}: file not found") from None
    except OSError as error:
        raise BiLmError(f"{path}: cannot be read ({reason(error)})") from None


_SNIFFED = 20  # lines
_WAYS_TO_READ = {
    "columns": "--column N reads its words, from 0",
    "FASTA": "name its file .fasta, or --input-format fasta",
}
_MOST_WORDS = 500
# A row whose word begins with "#"; or is "#", if the tag at the end of the row is O.
_ROW_WITH_HASH = re.compile(rb"#\S|# .*\bO\s*$")
# The number of a word in CoNLL-U; contracted words and empty nodes have two.
_NUMBER = re.compile(rb"\d+([-.]\d+)?")


def sentence_lines(lines: Iterable[bytes], name: str, column: int | None = None) -> Iterator[bytes]:
    """
    Yields the lines of a text with one sentence each; or, given the number of a `column`, the words
    in it up to each blank line as one sentence, with "_" for white space within a word. Raises
    `BiLmError` if the lines are plainly a table or data instead, or a row lacks a word.
    """
    lines = iter(lines)
    if column is not None:
        yield from _words_in_column(lines, name, column)
        return
    first = list(islice(lines, _SNIFFED))
    kind = kind_of_data([line.decode("utf-8", "ignore").strip("\r\n") for line in first])
    if kind:
        raise BiLmError(f"{name}: expected one sentence per line, got {kind}; {_advice_for(kind)}")
    yield from chain(first, lines)


def sentence_place(name: str, number: int, column: int | None = None) -> str:
    """
    Returns, for errors, the place of the sentence that `sentence_lines` yields with this number,
    from 1: its line; or in a table, because it has several lines, the sentence itself.
    """
    unit = "line" if column is None else "sentence"
    return f"{name}, {unit} {number}"


def _advice_for(kind: str) -> str:
    """Returns how users may go on with a file that `kind_of_data` takes for this kind of data."""
    for part, way in _WAYS_TO_READ.items():
        if part in kind:
            return way
    return "write its texts to a file, a sentence in each line"


def _words_in_column(lines: Iterator[bytes], name: str, column: int) -> Iterator[bytes]:
    """Yields each sentence of a table with a word in each row, as `sentence_lines` describes it."""
    first = list(islice(lines, _SNIFFED))
    form = _form_of_rows(first, column)
    words: list[bytes] = []
    # The blank line at the end ends the last sentence, as a blank line or the head of a document
    # ends each other one.
    for number, line in enumerate(chain(first, lines, [b"\n"]), start=1):
        if line.strip() and not line.startswith(b"-DOCSTART-"):
            fields = line.split()
            if b"\t" in line:
                fields = line.strip(b"\r\n").split(b"\t")
            if _is_word_row(line, fields, form):
                words.append(_word_in(fields, column, f"{name}, line {number}"))
        elif words:  # a sentence ends here
            warn_of_long_sentence(name, len(words))
            yield b" ".join(words) + b"\n"
            words = []


class _RowForm(NamedTuple):
    """
    The form of the rows of a table with a word in each.

    width: the number of fields of the first row, between white space; 0 without rows
    is_numbered: whether the first column has the numbers of words, as in CoNLL-U
    """

    width: int
    is_numbered: bool


def _form_of_rows(lines: Sequence[bytes], column: int) -> _RowForm:
    """Returns the form of the rows among the first lines; `column` has the words."""
    rows = [line.split() for line in lines if line[:1] != b"#" and line.strip()]
    if not rows:
        return _RowForm(width=0, is_numbered=False)
    # Numbers in the column of the words are words themselves.
    is_numbered = column != 0 and _are_word_numbers([row[0] for row in rows])
    return _RowForm(width=len(rows[0]), is_numbered=is_numbered)


def _is_word_row(line: bytes, fields: Sequence[bytes], form: _RowForm) -> bool:
    """
    Returns whether a line has a word. A comment has none; nor has, in CoNLL-U, an empty node or a
    contraction (the rows below it have its words).
    """
    if form.is_numbered and not fields[0].isdigit():
        return False  # CoNLL-U numbers only whole words
    return not _is_comment(line, fields, form.width)


def _is_comment(line: bytes, fields: Sequence[bytes], width: int) -> bool:
    """
    Returns whether a line of a table is a comment. A line that begins with "#" is a row instead if
    it has tabs; or if it has `width` fields, as other rows have, and its word begins with "#".
    """
    if line[:1] != b"#":
        return False
    is_row = b"\t" in line or (len(fields) == width and _ROW_WITH_HASH.match(line) is not None)
    return not is_row


def _word_in(fields: Sequence[bytes], column: int, place: str) -> bytes:
    """
    Returns the word in a column, with "_" for white space in it. A negative column counts from the
    last. Raises `BiLmError`, beginning with `place`, if it is missing.
    """
    if not -len(fields) <= column < len(fields):
        raise BiLmError(f"{place}: expected column {column} of {len(fields)}, from 0")
    # Bytes that are no UTF-8 stay: `decode` refuses them later, with a message.
    word = "_".join(fields[column].decode("utf-8", "surrogateescape").split())
    if not word:
        raise BiLmError(f"{place}: column {column} has no word")
    return word.encode("utf-8", "surrogateescape")


def _are_word_numbers(numbers: Sequence[bytes]) -> bool:
    """Returns whether these are the numbers of words in their sentences, as CoNLL-U has them."""
    return b"1" in numbers and all(_NUMBER.fullmatch(number) for number in numbers)


def looks_raw(word: str) -> bool:
    """
    Returns whether the last word of a sentence has its full stop, as in text that nobody has
    tokenized.
    """
    return len(word) > 1 and word.endswith(_SENTENCE_ENDS)


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
    """Yields lines without a byte order mark. Raises `BiLmError` if they are not text."""
    num_blank = 0
    for number, line in enumerate(lines, start=1):
        if number == 1:
            for magic, kind in _NOT_TEXT.items():
                if line.startswith(magic):
                    raise BiLmError(
                        f"{name}: expected text in UTF-8, plain or in .gz or .zst, got {kind}"
                    )
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


def _lines(file: BinaryIO | BufferedIOBase) -> Iterator[bytes]:
    """
    Yields lines, cut after one byte more than `MAX_LINE_BYTES`: a small file may unpack to
    gigabytes.
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
    """Yields the content of all frames. The library's own reader accepts a cut file."""
    frame = None
    while compressed := file.read(_CHUNK):
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
    Decodes UTF-8 text, and drops byte order marks if not `keep_marks`. Raises `BiLmError`,
    beginning with the `location`, if it is not UTF-8 or has the character NUL.
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
