import gzip
import io
import os
import threading
from pathlib import Path

import pytest
import zstandard
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.embed_files.text import Text, size_of

TEXT = "one two\n\n  Wörter 辞書 \nlast".encode()
SENTENCES = ["one two", "", "Wörter 辞書", "last"]


def sentences(source: str, passage_bytes: int = 10) -> list[str]:
    return [sentence for passage in Text(source, passage_bytes) for sentence in passage.sentences]


@pytest.mark.parametrize(
    ("name", "pack"), [("a.txt", bytes), ("a.txt.gz", gzip.compress), ("a.txt.zst", zstandard.compress)]
)
def test_a_file_is_unpacked_by_its_name(name: str, pack: type, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(pack(TEXT))
    assert sentences(str(tmp_path / name)) == SENTENCES


def test_a_line_alone_is_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert sentences("-") == SENTENCES
    assert size_of("-") is None


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(TEXT,)).start()
    assert size_of(str(tmp_path / "pipe")) is None
    assert sentences(str(tmp_path / "pipe")) == SENTENCES


def test_the_size_is_known_of_a_plain_file_only(tmp_path: Path) -> None:
    for name in ("a.txt", "a.txt.gz"):
        (tmp_path / name).write_bytes(TEXT)
    assert size_of(str(tmp_path / "a.txt")) == len(TEXT)
    assert size_of(str(tmp_path / "a.txt.gz")) is None


@pytest.mark.parametrize("passage_bytes", [1, 1000])
def test_what_is_not_utf8_is_named_by_file_and_line(
    passage_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n\xff\n")
    with pytest.raises(ConfigurationError, match=r"a\.txt, line 3: not UTF-8 text"):
        sentences(str(tmp_path / "a.txt"), passage_bytes)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(ConfigurationError, match="standard input, line 1: not UTF-8 text"):
        sentences("-")


LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n")), max_size=30)


@given(lines=LINES, passage_bytes=st.integers(1, 300))
def test_passages_are_the_lines_in_order(
    lines: list[str], passage_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    text = Text(str(path), passage_bytes)
    passages = list(text)
    assert [sentence for passage in passages for sentence in passage.sentences] == [
        line.strip() for line in lines
    ]
    assert [passage.number for passage in passages] == list(range(text.num_passages))
    assert sum(passage.num_bytes for passage in passages) == path.stat().st_size
    first_line = 0
    for passage in passages:
        assert passage.first_line == first_line
        first_line += len(passage.sentences)
        longest = max(len(sentence.encode()) for sentence in lines) + 9
        assert passage.num_bytes < passage_bytes + longest


@given(lines=LINES, rest=LINES, passage_bytes=st.integers(1, 300))
def test_where_a_passage_ends_does_not_depend_on_the_text_behind_it(
    lines: list[str], rest: list[str], passage_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("text")
    passages = []
    for name, content in (("a.txt", lines), ("b.txt", lines + rest)):
        (folder / name).write_bytes("".join(f"{line}\n" for line in content).encode())
        passages.append(list(Text(str(folder / name), passage_bytes)))
    short, long = passages
    assert long[: len(short[:-1])] == short[:-1]


def test_the_digest_tells_texts_from_one_another(tmp_path: Path) -> None:
    digests = set()
    for content in (b"a b\nc\n", b"a b\nd\n", b"a b\nc\n\n", b"a\nb\nc\n"):
        (tmp_path / "a.txt").write_bytes(content)
        text = Text(str(tmp_path / "a.txt"), 4)
        list(text)
        digests.add(text.digest())
    assert len(digests) == 4
