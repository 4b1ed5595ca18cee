import bz2
import gzip
import io
import lzma
import os
import threading
from pathlib import Path

import pytest
import spacy
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.embed_files.text import digest_of, make_tokenizer, read_segments

TEXT = "one two\n\n  Wörter 辞書 \nlast".encode()
SENTENCES = ["one two", "", "Wörter 辞書", "last"]


def sentences(source: str, segment_bytes: int = 10) -> list[str]:
    return [sentence for segment in read_segments(source, segment_bytes) for sentence in segment.sentences]


@pytest.mark.parametrize(
    ("name", "compress"), [("a.txt", bytes), ("a.txt.gz", gzip.compress), ("a.txt.zst", zstandard.compress)]
)
def test_a_file_is_decompressed_by_its_name(name: str, compress: type, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(compress(TEXT))
    assert sentences(str(tmp_path / name)) == SENTENCES


def test_a_line_alone_is_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert sentences("-") == SENTENCES


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(TEXT,)).start()
    assert sentences(str(tmp_path / "pipe")) == SENTENCES


@pytest.mark.parametrize("segment_bytes", [1, 1000])
def test_what_is_not_utf8_is_named_by_file_and_line(
    segment_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n\xff\n")
    with pytest.raises(BiLmError, match=r"a\.txt, line 3: not UTF-8 text"):
        sentences(str(tmp_path / "a.txt"), segment_bytes)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(BiLmError, match="standard input, line 1: not UTF-8 text"):
        sentences("-")


def test_an_empty_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(BiLmError, match=r"^the standard input is empty$"):
        sentences("-")


def test_a_byte_order_mark_is_no_part_of_the_first_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + TEXT)
    assert sentences(str(tmp_path / "a.txt")) == SENTENCES
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + TEXT)))
    assert sentences("-") == SENTENCES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bz2.compress(TEXT), r"a\.txt is compressed by bzip2"),
        (lzma.compress(TEXT), r"a\.txt is compressed by xz"),
        (gzip.compress(TEXT, mtime=0), r"a\.txt is compressed by gzip, but its name"),
        (zstandard.compress(TEXT), r"a\.txt is compressed by zstd, but its name"),
        ("one".encode("utf-16"), r"a\.txt is text in UTF-16"),
        (b"one\ntw\0o\n", r"a\.txt, line 2: not text, as it has the character NUL"),
    ],
)
def test_what_is_no_text_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(BiLmError, match=message):
        sentences(str(tmp_path / "a.txt"))


LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\0\ufeff")), max_size=30)


@given(lines=LINES, segment_bytes=st.integers(1, 300))
def test_segments_are_the_lines_in_order(
    lines: list[str], segment_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    segments = list(read_segments(str(path), segment_bytes))
    assert [sentence for segment in segments for sentence in segment.sentences] == [
        line.strip() for line in lines
    ]
    assert [segment.number for segment in segments] == list(range(len(segments)))
    assert sum(segment.num_bytes for segment in segments) == path.stat().st_size
    first_line = 0
    for segment in segments:
        assert segment.first_line == first_line
        first_line += len(segment.sentences)
        longest = max(len(sentence.encode()) for sentence in lines) + 9
        assert segment.num_bytes < segment_bytes + longest


@given(lines=LINES, rest=LINES, segment_bytes=st.integers(1, 300))
def test_where_a_segment_ends_does_not_depend_on_the_text_after_it(
    lines: list[str], rest: list[str], segment_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("text")
    segments = []
    for name, content in (("a.txt", lines), ("b.txt", lines + rest)):
        (folder / name).write_bytes("".join(f"{line}\n" for line in content).encode())
        segments.append([segment[:4] for segment in read_segments(str(folder / name), segment_bytes)])
    short, long = segments
    assert long[: len(short[:-1])] == short[:-1]


def test_the_digest_tells_texts_from_one_another(tmp_path: Path) -> None:
    digests = set()
    for content in (b"a b\nc\n", b"a b\nd\n", b"a b\nc\n\n", b"a\nb\nc\n"):
        (tmp_path / "a.txt").write_bytes(content)
        segments = read_segments(str(tmp_path / "a.txt"), 4)
        digests.add(digest_of([segment.digest() for segment in segments]))
    assert len(digests) == 4


RAW_TEXT = "  Don't stop, he  said. It's £3.50/kg!\t"


def test_tokenized_text_is_split_at_white_space() -> None:
    assert make_tokenizer("whitespace", "en")("a  b\tc\u3000d.") == ["a", "b", "c", "d."]
    assert make_tokenizer("whitespace", "en")("") == []


@pytest.mark.parametrize("language", ["en", "de", "xx"])
def test_raw_text_is_split_by_the_rules_of_the_language(language: str) -> None:
    expected = [token.text for token in spacy.blank(language)(RAW_TEXT) if token.text.strip()]
    assert make_tokenizer("spacy", language)(RAW_TEXT) == expected
    assert make_tokenizer("spacy", language)("") == []


def test_english_contractions_are_two_words() -> None:
    assert make_tokenizer("spacy", "en")("Don't go.") == ["Do", "n't", "go", "."]


def test_the_memory_of_spacy_is_bounded_and_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpacyRules, "max_new_words", 100)
    loaded = []
    load = SpacyRules._load
    monkeypatch.setattr(SpacyRules, "_load", lambda rules: loaded.append(load(rules)) or loaded[-1])
    tokenize = make_tokenizer("spacy", "en")
    for number in range(100):
        assert tokenize(f"word{number} isn't other{number}.") == [
            f"word{number}",
            "is",
            "n't",
            f"other{number}",
            ".",
        ]
        language, at_first = loaded[-1]
        assert len(language.vocab.strings) < at_first + 120
    assert len(loaded) > 1


def test_a_language_without_rules_is_named() -> None:
    with pytest.raises(BiLmError, match="spaCy has no rules for language 'no-such-language'"):
        make_tokenizer("spacy", "no-such-language")
