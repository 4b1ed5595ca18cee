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
MAX_BLANK_LINES = 1_000_000  # so many in succession are refused
_CHUNK = 1 << 9  # bytes of zstd; one may become 33,000
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
    return next((end for end in (".gz", ".zst") if path.endswith(end)), "")


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
            yield from _text_lines(_zstd_lines(file) if kind == ".zst" else _lines(file), path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BiLmError(f"{path}: not a whole gzip file ({error})") from None
    except zstandard.ZstdError as error:
        raise BiLmError(f"{path}: not a whole zstd file ({error})") from None
    except FileNotFoundError:
        raise BiLmError(f"{path}: file not found") from None
    except OSError as error:
        raise BiLmError(f"{path}: cannot be read ({reason(error)})") from None


_SNIFFED = 20  # lines
_READS = {
    "columns": "--column N reads its words, from 0",
    "FASTA": "name its file .fasta, or --input-format fasta",
}
_MOST_WORDS = 500
_HASH = re.compile(rb"#\S|# .*\bO$")  # a hash sign that is a word, not a comment
# The number of a word in CoNLL-U; contracted words and empty nodes have two numbers.
_NUMBER = re.compile(rb"\d+([-.]\d+)?")
_ROW = re.compile(r"\S+( \S+)*? (O|[BIESUL]-\S+)")
_FASTA = re.compile(r">\S.*|[A-Za-z*.-]+")
_MARKUP = re.compile(r"<(\?xml|!doctype|html|doc|tei|text|root|body)\b", re.IGNORECASE)


def sentence_lines(lines: Iterable[bytes], name: str, column: int | None = None) -> Iterator[bytes]:
    """
    Yields the lines of a text with one sentence each; or, given the number of a `column`, the words
    in it, up to each blank line, with "_" for white space within them. Raises `BiLmError` if the
    lines are plainly a table or data instead, or the word of a row is missing.
    """
    lines = iter(lines)
    if column is not None:
        yield from _words_in_column(lines, name, column)
        return
    first = list(islice(lines, _SNIFFED))
    if kind := _kind_of_data([line.decode("utf-8", "ignore").strip("\r\n") for line in first]):
        reads = next((_READS[part] for part in _READS if part in kind), "write its texts to a file")
        raise BiLmError(f"{name}: expected one sentence per line, got {kind}; {reads}")
    yield from chain(first, lines)


def _kind_of_data(lines: list[str]) -> str:
    """
    Returns the format of the first lines of a file if they are plainly no sentences, or nothing.
    """
    texts = [line for line in lines if line.strip()]
    rows = [line for line in texts if not line.startswith(("#", "-DOCSTART-"))]
    if not texts:
        return ""
    if texts[0].lstrip()[:1] in ("{", "[") and re.match(r'\s*[\[{]\s*(["\[{]|$)', texts[0]):
        return "JSON"
    if _MARKUP.match(texts[0].lstrip()):
        return "XML or HTML"
    if re.match(r"\(\S* ?\(", texts[0]):
        return "trees"
    if len(texts) > 1 and texts[0][0] == ">" and all(map(_FASTA.fullmatch, texts)):
        return "FASTA"
    if texts[0][0] == "@" and [text[0] for text in texts[2:3]] == ["+"]:
        return "FASTQ"
    tabs = {row.count("\t") for row in rows}
    if len(tabs) == 1 and (max(tabs) > 4 or (max(tabs) and len(rows) > 1)):
        return "columns between tabs" + ", CoNLL-U" * (max(tabs) == 9)
    if len({len(row.split()) for row in rows}) == 1 and all(map(_ROW.fullmatch, rows)):
        return "columns of words and tags"
    commas = [min(row.count(mark) for row in rows) if rows else 0 for mark in ",;"]
    if len(rows) > 1 and max(commas) and re.fullmatch(r"[\w\"#-]+([,;][\w\"#-]*)+", rows[0]):
        return "a table, CSV"
    return ""


def _words_in_column(lines: Iterator[bytes], name: str, column: int) -> Iterator[bytes]:
    words: list[bytes] = []
    first = list(islice(lines, _SNIFFED))
    rows = [line.split() for line in first if line[:1] != b"#" and line.strip()]
    width = len(rows[0]) if rows else 0
    numbers = [row[0] for row in rows]
    is_numbered = column != 0 and b"1" in numbers and all(map(_NUMBER.fullmatch, numbers))
    for number, line in enumerate(chain(first, lines, [b"\n"]), start=1):
        fields = line.strip(b"\r\n").split(b"\t") if b"\t" in line else line.split()
        is_word = b"\t" in line or (len(fields) == width and _HASH.match(line))
        if not line.strip() or line.startswith(b"-DOCSTART-"):
            if words:
                warn_of_long_sentence(name, len(words))
                yield b" ".join(words) + b"\n"
            words = []
        elif (line[:1] == b"#" and not is_word) or (is_numbered and not fields[0].isdigit()):
            continue
        elif not -len(fields) <= column < len(fields):
            raise BiLmError(
                f"{name}, line {number}: expected column {column} of {len(fields)}, from 0"
            )
        else:
            word = "_".join(fields[column].decode("utf-8", "surrogateescape").split())
            if not word:
                raise BiLmError(f"{name}, line {number}: column {column} has no word")
            words.append(word.encode("utf-8", "surrogateescape"))


def looks_raw(word: str) -> bool:
    """
    Returns whether the last word of a sentence has its full stop, as in text that nobody has
    tokenized.
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
            found = (
                f"{num_blank:,} blank lines" if num_blank else f"more than {MAX_LINE_BYTES:,} bytes"
            )
            raise BiLmError(f"{name}, line {number}: expected a line of text, got {found}")
        yield line


def _lines(file: BinaryIO | BufferedIOBase) -> Iterator[bytes]:
    """
    Yields lines, cut after one byte more than `MAX_LINE_BYTES`: a small file may unpack to
    gigabytes.
    """
    return iter(partial(file.readline, MAX_LINE_BYTES + 1), b"")


def _zstd_lines(file: BufferedIOBase) -> Iterator[bytes]:
    rest = bytearray()  # the beginning of a line whose end was not read yet
    for chunk in _zstd_chunks(file):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            yield bytes(rest) + line + b"\n"
            rest.clear()
        rest += last
        if len(rest) > MAX_LINE_BYTES:
            break
    if rest:
        yield bytes(rest)


def _zstd_chunks(file: BufferedIOBase) -> Iterator[bytes]:
    """Yields the content of all frames. The library's own reader accepts a cut file."""
    frame = None
    while compressed := file.read(_CHUNK):
        while compressed:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(compressed)
            compressed = frame.unused_data
            if frame.eof:
                frame = None
    if frame is not None:
        raise zstandard.ZstdError("the file ends in the middle of a frame")


def decode(text: bytes, location: str, encoding: str = "utf-8", keep_marks: bool = False) -> str:
    """
    Decodes text, and drops byte order marks if not `keep_marks`. Raises `BiLmError`, beginning with
    the `location`, if it is not in this encoding or has the character NUL.
    """
    if b"\0" in text:
        raise BiLmError(f"{location}: not text, as it has the character NUL")
    try:
        decoded = text.decode(encoding)
        return decoded if keep_marks else decoded.replace(BYTE_ORDER_MARK, "")
    except UnicodeDecodeError as error:
        raise BiLmError(f"{location}: not {encoding.upper()} text ({error.reason})") from None
