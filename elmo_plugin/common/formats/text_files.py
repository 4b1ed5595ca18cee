"""The lines of a text file, compressed or not, with errors that name the file and the line."""

import gzip
import logging
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from io import BufferedIOBase
from itertools import chain, islice
from typing import BinaryIO

import zstandard

from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import reason
from elmo_plugin.common.typography import BYTE_ORDER_MARK

logger = logging.getLogger(__name__)

MAX_LINE_BYTES = 2**28
MAX_BLANK_LINES = 1_000_000  # in a row
_CHUNK = 512  # bytes of zstd read at a time; a byte may unpack to 33,000
_BOM = BYTE_ORDER_MARK.encode()  # some editors write it
_SENTENCE_ENDS = (".", "?", "!", "…", "؟", "।", "。", "！", "？")  # noqa: RUF001
# How files begin that hold no plain text.
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


def read_lines(path: str) -> Iterator[bytes]:
    """
    Yields the lines of a file or URL, unpacked if its name ends in `.gz` or `.zst`, without a byte
    order mark. Raises `BiLmError` if it cannot be read, or is not text: if it is binary, or has an
    endless line or a million blank lines.
    """
    suffix = compression(path)
    opener = gzip.open if suffix == ".gz" else open
    try:
        with opener(fetch(path), "rb") as file:
            if suffix == ".zst":
                lines = _zstd_lines(file)
            else:
                lines = _lines(file)
            yield from _text_lines(lines, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BiLmError(f"{path}: not a whole gzip file ({error})") from None
    except zstandard.ZstdError as error:
        raise BiLmError(f"{path}: not a whole zstd file ({error})") from None
    except FileNotFoundError:
        raise BiLmError(f"{path}: file not found") from None
    except OSError as error:
        raise BiLmError(f"{path}: cannot be read ({reason(error)})") from None


_NUM_FIRST_LINES = 20  # that decide what a file holds
_MOST_WORDS = 500  # of a likely sentence

# The advice for each kind of data; the text of a kind contains the key.
_ADVICE = {
    "columns": "--column N reads its words, from 0",
    "FASTA": "name its file .fasta, or --input-format fasta",
}
_JSON = re.compile(r'\s*[\[{]\s*(["\[{]|$)')
_MARKUP = re.compile(r"\s*<(\?xml|!doctype|html|doc|tei|text|root|body)\b", re.IGNORECASE)
_TREE = re.compile(r"\(\S* ?\(")
_FASTA_LINE = re.compile(r">\S.*|[A-Za-z*.-]+")
_WORD_AND_TAG = re.compile(r"\S+( \S+)*? (O|[BIESUL]-\S+)")
_CSV_HEADER = re.compile(r"[\w\"#-]+([,;][\w\"#-]*)+")

# A row of columns that begins with the word `#`, or with a word such as `#now`; not a comment.
_ROW_WITH_HASH = re.compile(rb"#\S|# .*\bO$")
# The number of a word in CoNLL-U; contracted words (3-4) and empty nodes (3.1) have two.
_WORD_NUMBER = re.compile(rb"\d+([-.]\d+)?")


def sentence_lines(lines: Iterable[bytes], name: str, column: int | None = None) -> Iterator[bytes]:
    """
    Yields the sentences of a text, one a line. Without a `column`, the lines of the text are its
    sentences. With the number of a column, the text is a table with a word in each row and a blank
    line after each sentence; white space in a word becomes "_". Raises `BiLmError` if the lines
    should be sentences but are plainly a table or data, or if a row lacks its word.
    """
    lines = iter(lines)
    if column is not None:
        yield from _words_in_column(lines, name, column)
        return
    first_lines = list(islice(lines, _NUM_FIRST_LINES))
    kind = _kind_of_data([line.decode("utf-8", "ignore").strip("\r\n") for line in first_lines])
    if kind:
        advice = "write its texts to a file"
        for data, advice_for_data in _ADVICE.items():
            if data in kind:
                advice = advice_for_data
        raise BiLmError(f"{name}: expected one sentence per line, got {kind}; {advice}")
    yield from chain(first_lines, lines)


def _kind_of_data(first_lines: list[str]) -> str:
    """
    Returns what a file holds if its first lines are plainly no sentences; else an empty string.
    """
    texts = [line for line in first_lines if line.strip()]
    if not texts:
        return ""
    if _JSON.match(texts[0]):
        return "JSON"
    if _MARKUP.match(texts[0]):
        return "XML or HTML"
    if _TREE.match(texts[0]):
        return "trees"
    if _is_fasta(texts):
        return "FASTA"
    if len(texts) > 2 and texts[0].startswith("@") and texts[2].startswith("+"):
        return "FASTQ"
    rows = [text for text in texts if not text.startswith(("#", "-DOCSTART-"))]
    if not rows:
        return ""
    return _kind_of_table(rows)


def _is_fasta(texts: list[str]) -> bool:
    """Returns whether lines are records of FASTA, the first with at least one line of letters."""
    if len(texts) < 2 or not texts[0].startswith(">"):
        return False
    return all(_FASTA_LINE.fullmatch(text) for text in texts)


def _kind_of_table(rows: list[str]) -> str:
    """Returns the kind of table that rows are plainly in, or an empty string."""
    numbers_of_tabs = {row.count("\t") for row in rows}
    if len(numbers_of_tabs) == 1:
        num_tabs = rows[0].count("\t")
        # A single sentence may have a few tabs in it.
        if num_tabs > 4 or (num_tabs > 0 and len(rows) > 1):
            if num_tabs == 9:
                return "columns between tabs, CoNLL-U"
            return "columns between tabs"
    numbers_of_words = {len(row.split()) for row in rows}
    if len(numbers_of_words) == 1 and all(_WORD_AND_TAG.fullmatch(row) for row in rows):
        return "columns of words and tags"
    if len(rows) > 1 and _CSV_HEADER.fullmatch(rows[0]):
        for separator in ",;":
            if all(separator in row for row in rows):
                return "a table, CSV"
    return ""


def _words_in_column(lines: Iterator[bytes], name: str, column: int) -> Iterator[bytes]:
    """Yields a line with the words of each sentence in a table, see `sentence_lines`."""
    first_lines = list(islice(lines, _NUM_FIRST_LINES))
    first_rows = [line.split() for line in first_lines if line[:1] != b"#" and line.strip()]
    width = len(first_rows[0]) if first_rows else 0
    is_numbered = column != 0 and _are_numbered(first_rows)
    words: list[bytes] = []
    # The blank line at the end finishes the last sentence.
    for number, line in enumerate(chain(first_lines, lines, [b"\n"]), start=1):
        if not line.strip() or line.startswith(b"-DOCSTART-"):
            if words:
                warn_of_long_sentence(name, len(words))
                yield b" ".join(words) + b"\n"
            words = []
            continue
        fields = _fields(line)
        is_row_of_other = is_numbered and not fields[0].isdigit()
        if is_row_of_other or _is_comment(line, fields, width):
            continue
        if not -len(fields) <= column < len(fields):
            raise BiLmError(
                f"{name}, line {number}: expected column {column} of {len(fields)}, from 0"
            )
        # Bytes that are not UTF-8 pass through; who decodes the line refuses them.
        text = fields[column].decode("utf-8", "surrogateescape")
        word = "_".join(text.split())
        if not word:
            raise BiLmError(f"{name}, line {number}: column {column} has no word")
        words.append(word.encode("utf-8", "surrogateescape"))


def _are_numbered(rows: list[list[bytes]]) -> bool:
    """Returns whether the first column numbers the words of each sentence, as CoNLL-U does."""
    numbers = [row[0] for row in rows]
    return b"1" in numbers and all(_WORD_NUMBER.fullmatch(number) for number in numbers)


def _fields(line: bytes) -> list[bytes]:
    """Returns the fields of a row, between tabs or, if it has none, between white space."""
    if b"\t" in line:
        return line.strip(b"\r\n").split(b"\t")
    return line.split()


def _is_comment(line: bytes, fields: list[bytes], width: int) -> bool:
    """
    Returns whether a line is a comment, and no row of `width` fields whose first word begins with
    `#`.
    """
    if not line.startswith(b"#") or b"\t" in line:
        return False
    is_row = len(fields) == width and _ROW_WITH_HASH.match(line) is not None
    return not is_row


def looks_raw(word: str) -> bool:
    """
    Returns whether the last word of a sentence ends with the full stop. In tokenized text the
    full stop is a word of its own.
    """
    return len(word) > 1 and word.endswith(_SENTENCE_ENDS)


def warn_of_long_sentence(name: str, words: int) -> None:
    """Warns of a sentence in a table that is likely a whole document."""
    if words > _MOST_WORDS:
        logger.warning("%s: a sentence of %d words; a blank line ends a sentence", name, words)


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
        num_blank = num_blank + 1 if line.isspace() else 0
        if len(line) > MAX_LINE_BYTES or num_blank > MAX_BLANK_LINES:
            wrong = f"more than {MAX_LINE_BYTES:,} bytes"
            if num_blank:
                wrong = f"{num_blank:,} blank lines"
            raise BiLmError(f"{name}, line {number}: expected a line of text, got {wrong}")
        yield line


def _lines(file: BinaryIO | BufferedIOBase) -> Iterator[bytes]:
    """
    Yields the lines of a file. A line is cut when it is one byte longer than `MAX_LINE_BYTES`,
    because a line of a small compressed file may have gigabytes.
    """
    return iter(partial(file.readline, MAX_LINE_BYTES + 1), b"")


def _zstd_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Yields the lines of a file in zstd, up to a line that is longer than `MAX_LINE_BYTES`."""
    begun = bytearray()  # the line whose end has not been read yet
    for chunk in _zstd_chunks(file):
        *line_ends, next_line = chunk.split(b"\n")
        for line_end in line_ends:
            yield bytes(begun) + line_end + b"\n"
            begun.clear()
        begun += next_line
        if len(begun) > MAX_LINE_BYTES:
            break
    if begun:
        yield bytes(begun)


def _zstd_chunks(file: BufferedIOBase) -> Iterator[bytes]:
    """
    Yields the unpacked content of a file with one or more frames. Raises `ZstdError` if the
    file is cut; the library's own reader does not.
    """
    frame = None
    while compressed := file.read(_CHUNK):
        while compressed:
            if frame is None:
                frame = zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(compressed)
            compressed = frame.unused_data
            if frame.eof:
                frame = None
    if frame is not None:
        raise zstandard.ZstdError("the file ends in the middle of a frame")


def decode(text: bytes, location: str, encoding: str = "utf-8", keep_marks: bool = False) -> str:
    """
    Decodes text, and drops byte order marks in it unless `keep_marks` is true. Raises `BiLmError`,
    beginning with the `location`, if it is not in this encoding or has the character NUL.
    """
    if b"\0" in text:
        raise BiLmError(f"{location}: not text, as it has the character NUL")
    try:
        decoded = text.decode(encoding)
    except UnicodeDecodeError as error:
        raise BiLmError(f"{location}: not {encoding.upper()} text ({error.reason})") from None
    if keep_marks:
        return decoded
    return decoded.replace(BYTE_ORDER_MARK, "")
