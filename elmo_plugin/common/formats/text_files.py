"""The lines of a text file, compressed or not, with errors that name the file and the line."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from io import BufferedIOBase
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import zstandard

from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import reason
from elmo_plugin.common.typography import BYTE_ORDER_MARK

MAX_LINE_BYTES = 2**28
MAX_BLANK_LINES = 1_000_000  # so many in succession are refused
_ZSTD_CHUNK_BYTES = 512  # unpacked at a time; each of them may become 33,000 bytes
_BOM = BYTE_ORDER_MARK.encode()  # some editors write it
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


TABLE_SUFFIXES = (".csv", ".xlsx", ".xlsm", ".parquet", ".arrow", ".feather")
"""The names of tables end so, perhaps before the suffix of a compression."""


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
