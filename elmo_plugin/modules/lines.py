"""The lines of a text file, gzipped or not, with errors that name the place."""

import gzip
import zlib
from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path


def read_lines(path: str) -> Iterator[bytes]:
    """
    # Parameters

    path : `str`
        A path or URL; a file whose name ends in `.gz` is unpacked on the way.

    Raises `ConfigurationError` where a gzip file is damaged or is none.
    """
    opener = gzip.open if path.endswith(".gz") else open
    with opener(cached_path(path), "rb") as lines:
        try:
            yield from lines
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ConfigurationError(f"{path}: not a whole gzip file ({error})") from None


def decode(text: bytes, place: str) -> str:
    """`text` as UTF-8; otherwise a `ConfigurationError` that begins with `place`, the file and line."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{place}: not UTF-8 text ({error.reason})") from None
