import gzip
import io
from pathlib import Path

import pytest
import zstandard

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats import text_files
from elmo_plugin.common.formats.text_files import decode, read_lines, standard_input_lines

TEXT = "one\n\nzwölf\n".encode()
LONG_TEXT = b"".join(b"%d and more\n" % number for number in range(100_000))
SKIPPED_FRAME = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.txt", TEXT),
        ("text.txt.gz", gzip.compress(TEXT, mtime=0)),
        ("text.txt.zst", zstandard.compress(TEXT)),
    ],
)
def test_lines_are_read_plain_or_compressed(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert [decode(line, "") for line in read_lines(str(tmp_path / name))] == [
        "one\n",
        "\n",
        "zwölf\n",
    ]


def test_lines_may_span_the_frames_and_blocks_of_a_zstd_file(tmp_path: Path) -> None:
    whole = LONG_TEXT + b"no line feed"
    frames = [whole[:1000], whole[1000:-5], whole[-5:]]
    content = SKIPPED_FRAME.join([b"", *map(zstandard.compress, frames), b""])
    path = tmp_path / "text.zst"
    path.write_bytes(content)
    assert list(read_lines(str(path))) == whole.splitlines(keepends=True)


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        gzip.compress(TEXT * 100, mtime=0)[:-9],
        gzip.compress(TEXT, mtime=0)[:12] + b"\xff" * 9,
    ],
)
def test_a_damaged_gzip_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(content)
    with pytest.raises(BiLmError, match=f"{path}: not a whole gzip file"):
        list(read_lines(str(path)))


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        zstandard.compress(LONG_TEXT)[:-1],
        zstandard.compress(LONG_TEXT)[:5],
        zstandard.compress(TEXT) + TEXT,
    ],
    ids=["plain", "cut", "cut-in-the-head", "plain-after-it"],
)
def test_a_damaged_zstd_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "text.zst"
    path.write_bytes(content)
    with pytest.raises(BiLmError, match=f"{path}: not a whole zstd file"):
        list(read_lines(str(path)))


def test_text_that_is_not_utf8_is_refused_naming_the_line() -> None:
    with pytest.raises(BiLmError, match="corpus, line 3: not UTF-8 text"):
        decode(b"sch\xf6n", "corpus, line 3")


ENDLESS = {
    "a line": (b"ok\n" + b"x" * 5000, 2, "more than 4,096 bytes"),
    "blanks": (b"a\n" + b" \n" * 50, 34, "33 blank"),
}


@pytest.mark.parametrize(("content", "line", "found"), ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", "-"])
def test_overlong_lines_are_refused_naming_the_line(
    content: bytes,
    line: int,
    found: str,
    suffix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_files, "MAX_LINE_BYTES", 2**12)
    monkeypatch.setattr(text_files, "MAX_BLANK_LINES", 32)
    path = tmp_path / f"text{suffix}"
    path.write_bytes({".gz": gzip.compress, ".zst": zstandard.compress}.get(suffix, bytes)(content))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    name = "standard input" if suffix == "-" else str(path)
    with pytest.raises(
        BiLmError, match=f"^{name}, line {line}: expected a line of text, got {found}"
    ):
        list(standard_input_lines() if suffix == "-" else read_lines(str(path)))


def test_a_path_with_nul_is_refused() -> None:
    with pytest.raises(BiLmError, match="has the character NUL"):
        list(read_lines("a\0b"))
