"""The lines of a text file, compressed or not, with errors that name the file and the line."""

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedIOBase

import zstandard

from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import BiLmError

_CHUNK = 1 << 17


def compression(path: str) -> str:
    """Returns how a file is compressed, by its suffix: `.gz`, `.zst`, or nothing where it is not."""
    return next((end for end in (".gz", ".zst") if path.endswith(end)), "")


def read_lines(path: str) -> Iterator[bytes]:
    """
    Yields the lines of a file, each with its line feed.

    # Parameters

    path : `str`
        A path or URL; a file whose name ends in `.gz` or `.zst` is decompressed on the way.

    Raises `BiLmError` where a compressed file is damaged or is none.
    """
    kind = compression(path)
    opener = gzip.open if kind == ".gz" else open
    with opener(fetch(path), "rb") as file:
        try:
            yield from _zstd_lines(file) if kind == ".zst" else file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BiLmError(f"{path}: not a whole gzip file ({error})") from None
        except zstandard.ZstdError as error:
            raise BiLmError(f"{path}: not a whole zstd file ({error})") from None


def _zstd_lines(file: BufferedIOBase) -> Iterator[bytes]:
    rest = b""
    for chunk in _zstd_chunks(file):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest


def _zstd_chunks(file: BufferedIOBase) -> Iterator[bytes]:
    """Yields the content of all frames. The library's own reader takes a cut file for a whole one."""
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


def decode(text: bytes, location: str) -> str:
    """
    Returns `text` as UTF-8. Raises a `BiLmError` that begins with `location`, the file and line.
    """
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BiLmError(f"{location}: not UTF-8 text ({error.reason})") from None
