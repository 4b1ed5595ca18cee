"""A text is read in chunks of lines; a chunk's file is used again only if it is whole and of this
text.
"""

import bz2
import gzip
import io
import os
import threading
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLmError
from elmo_plugin.embed_files import EmbedSettings
from elmo_plugin.embed_files.chunks import (
    Chunk,
    Record,
    chunk_path,
    has_chunk,
    read_chunks,
    write_chunk,
)

TEXT = "one two\n\n  Wörter 辞書 \nlast".encode()
SENTENCES = ["one two", "", "Wörter 辞書", "last"]


def read(source: str | Path, chunk_bytes: int = 10) -> list[Chunk]:
    return list(read_chunks(str(source), EmbedSettings(), chunk_bytes, blake2b()))


def sentences(source: str | Path, chunk_bytes: int = 10) -> list[str]:
    return [sentence for chunk in read(source, chunk_bytes) for sentence in chunk.sentences]


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("a.txt", bytes),
        ("a.txt.gz", gzip.compress),
        ("a.txt.zst", zstandard.compress),
        ("a.txt", b"\xef\xbb\xbf".__add__),
    ],
    ids=["plain", "gzip", "zstd", "byte order mark"],
)
def test_a_file_is_read_by_its_name(name: str, compress: type, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(compress(TEXT))
    assert sentences(tmp_path / name) == SENTENCES


def test_standard_input_and_pipes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert sentences("-") == SENTENCES
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(TEXT,)).start()
    assert sentences(tmp_path / "pipe") == SENTENCES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bz2.compress(TEXT), r"expected text in .*, got bzip2"),
        ("one".encode("utf-16"), r"got UTF-16"),
        (b"one\ntwo\n\xff\n", r"a\.txt, line 3: not UTF-8 text"),
        (gzip.compress(TEXT, mtime=0), r"got gzip without .gz"),
        (b"one\ntw\0o\n", r"a\.txt, line 2: not text, as it has the character NUL"),
    ],
)
def test_a_binary_file_is_reported(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    for chunk_bytes in (1, 1000):
        with pytest.raises(BiLmError, match=message):
            sentences(tmp_path / "a.txt", chunk_bytes)


# No table, tree or other data begins with a sentence, so the lines that follow may be anything.
SENTENCE = "It rained all day, and nobody came."
LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\0\ufeff")), max_size=30
)


@given(lines=LINES, more=LINES, chunk_bytes=st.integers(1, 300))
def test_chunks_are_the_lines_in_order_and_do_not_depend_on_the_text_after_them(
    lines: list[str], more: list[str], chunk_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [SENTENCE, *lines]
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    chunks = read(path, chunk_bytes)
    assert [sentence for chunk in chunks for sentence in chunk.sentences] == [
        line.strip() for line in lines
    ]
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert sum(chunk.size for chunk in chunks) == path.stat().st_size
    places = [record.place for chunk in chunks for record in chunk.records]
    assert places == [f"{path}, line {number}" for number in range(1, len(lines) + 1)]
    for chunk in chunks:
        longest = max(len(sentence.encode()) for sentence in lines) + 9
        assert chunk.size < chunk_bytes + longest
    path.write_bytes("".join(f"{line}\n" for line in lines + more).encode())
    assert read(path, chunk_bytes)[: len(chunks[:-1])] == chunks[:-1]


@pytest.mark.parametrize("end", [0, 20, -20])
def test_only_complete_chunks_count_as_done(end: int, tmp_path: Path) -> None:
    chunk, path = Chunk(0, [Record("a", "a.txt, line 1", 2)]), chunk_path(tmp_path, 0)
    assert not has_chunk(tmp_path, chunk)
    write_chunk(tmp_path, chunk, [["a"]], np.ones((1, 3, 4)))
    assert has_chunk(tmp_path, chunk)
    with pytest.raises(
        BiLmError, match=r"started with another text \(it differs from a\.txt, line 1 on"
    ):
        has_chunk(tmp_path, Chunk(0, [Record("b", "a.txt, line 1", 2)]))
    path.write_bytes(path.read_bytes()[:end])
    assert not has_chunk(tmp_path, chunk)


def test_a_sentence_of_a_table_is_named_by_its_number_and_not_by_a_line(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_bytes(b"the\tO\ncat\tO\n\nsch\xf6n\tO\n")
    with pytest.raises(BiLmError, match=r"table\.tsv, sentence 2: not UTF-8 text"):
        list(read_chunks(str(table), EmbedSettings(column=0), 10, blake2b()))
