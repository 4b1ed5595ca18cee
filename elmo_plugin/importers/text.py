"""The text of a file in any encoding, compressed or not."""

import codecs
import gzip
import re
import zlib
from collections.abc import Sequence

import zstandard
from allennlp.common.checks import ConfigurationError
from charset_normalizer import from_bytes

from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import read_bytes
from elmo_plugin.common.formats.text_files import format_of_bytes
from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.importers.latin_encodings import latin_encodings
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report

_WESTERN = "cp1252"  # what programs of Western languages wrote, and the letters of latin-1
_NOT_WESTERN = re.compile(
    r"[^\x00-\x7fÀ-ÖØ-öø-ÿŠšŽžŒœŸ€‚„…‘’“”•–—™§«»°·ºª¿¡®©\u00a0´£]"  # noqa: RUF001
    r"|(?<=\w)[¿¡]|[À-ÿ]{4}"
)
_SYMBOL_IN_WORD = re.compile(r"[^\W\d_][³¹²º¼½¾£¤¥¦§¨¯¸±×÷]|[³¹£¤¥¦¯¸±×÷][^\W\d_]")  # noqa: RUF001
_OTHER_ENCODINGS = [
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp874",
    "koi8_r",
    "shift_jis",
    "euc_jp",
    "gb18030",
    "big5",
    "euc_kr",
]
"""The encodings among which charset-normalizer chooses for texts that are not Western."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def read_text(file: str, options: ImportOptions, report: Report) -> str:
    """
    Returns the text of a file. Its lines end in a line feed, and byte order marks at its beginning
    are left out.

    The options may name its encoding. Otherwise it is UTF-16 or UTF-32 if the first bytes say so,
    or UTF-8 if all bytes are legal in it. For any other file, a likely encoding is chosen, and the
    report names it.

    Raises `ConfigurationError`, naming the file and the option, if the text cannot be decoded.
    """
    content = read_content(file)
    encoding = options.encoding or _known_encoding(file, content)
    if encoding is None:
        encoding = _guess_encoding(file, content)
        report.took(f"the text is not UTF-8 and was read as {encoding} (--encoding names another)")
    try:
        text = content.decode(encoding)
    except LookupError:
        raise ConfigurationError(f"--encoding: Python knows no {encoding!r}") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigurationError(
            f"{file}, line {line}: not {encoding.upper()} text; --encoding names another"
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ConfigurationError(
            f"{file}, line {line}: not text, as it has the character NUL; "
            "--encoding utf-16-le reads UTF-16 without a byte order mark"
        )
    text = text.lstrip(BYTE_ORDER_MARK)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(file: str, options: ImportOptions, report: Report) -> Sequence[str]:
    """Returns the lines of a file without their ends. `read_text` describes encodings."""
    lines = read_text(file, options, report).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def read_content(file: str) -> bytes:
    """
    Returns the bytes of a file or URL, decompressed if its name ends in `.gz` or `.zst`. Raises
    `ConfigurationError` if it cannot be read.
    """
    with as_configuration_error():
        content = read_bytes(fetch(file), file)
    try:
        if file.endswith(".gz"):
            return gzip.decompress(content)
        if file.endswith(".zst"):
            with zstandard.ZstdDecompressor().stream_reader(
                content, read_across_frames=True
            ) as reader:
                return reader.read()
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise ConfigurationError(f"{file}: not a whole compressed file ({error})") from None
    return content


def _known_encoding(file: str, content: bytes) -> str | None:
    """
    Returns the encoding that the first bytes mark, or UTF-8 if the content is legal in it, or
    `None`. Raises `ConfigurationError` if the first bytes show that the file is not text.
    """
    found = format_of_bytes(content)
    if found is not None:
        raise ConfigurationError(f"{file}: expected text, got {found}")
    # UTF-32 comes first because one of its marks begins with a mark of UTF-16.
    if content.startswith(_UTF_32):
        return "utf-32"
    if content.startswith(_UTF_16):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _guess_encoding(file: str, content: bytes) -> str:
    """
    Returns the encoding of a text that is not UTF-8.

    Raises `ConfigurationError`, naming the file and the option, if several encodings are likely.
    The same byte may be ş in one of them and ž in another, so a guess could change words.
    """
    encodings = latin_encodings(content) or _encodings_of_any_script(file, content)
    if len(encodings) > 1:
        raise ConfigurationError(
            f"{file}: not UTF-8 text, and it may be {' or '.join(encodings)}; --encoding names one"
        )
    return encodings[0]


def _encodings_of_any_script(file: str, content: bytes) -> list[str]:
    """
    Returns the likely encodings of a text whose language `latin_encodings` does not know. Raises
    `ConfigurationError` if no encoding is likely.
    """
    western = content.decode(_WESTERN, "replace")
    if not _NOT_WESTERN.search(western):
        return [_WESTERN]
    matches = from_bytes(content, cp_isolation=_OTHER_ENCODINGS)
    # A text that was decoded wrongly has symbols within words, as in "d³ugo".
    likely = [match for match in matches if not _SYMBOL_IN_WORD.search(str(match))]
    if not likely:
        raise ConfigurationError(f"{file}: not UTF-8 text; --encoding names another, as cp1252")
    # "Chaos" is charset-normalizer's word for the share of characters that look wrong. Its matches
    # are sorted by it.
    least_chaos = likely[0].chaos
    return [match.encoding for match in likely if match.chaos == least_chaos]
