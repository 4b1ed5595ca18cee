"""Text is tokenized once, known by its content, and refused by name if it cannot be read."""

import gzip
import multiprocessing
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import zstandard

from elmo_plugin.bilm import BiLmError
from elmo_plugin.language_model import corpus as corpus_module
from elmo_plugin.language_model.chunks import write_corpus_chunk
from elmo_plugin.language_model.corpus import (
    find_shards,
    prepare_corpus,
    prepare_shard,
    read_sentences,
)

TEXTS = ["a b a\nwhy ?\n", "c b\n", "a\nb\nc d e\n"]
TEXT = "a b a\n\nwhy ?\nc b\nSchön\n"


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    return [str(tmp_path / f"{number}.txt") for number in range(len(TEXTS))]


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "corpora"


def test_files_of_a_pattern_are_sorted_and_existing_names_are_no_patterns(
    tmp_path: Path,
) -> None:
    for name in ("b.txt", "a.txt.gz", "text[1].txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    found = find_shards(str(tmp_path / "*"), str(tmp_path / "text[1].txt"))
    assert [Path(path).name for path in found] == ["a.txt.gz", "b.txt", "text[1].txt"]


@pytest.mark.parametrize(
    ("path", "message"),
    [("-", "no file that can be read twice"), (".", "a folder: name its files")],
)
def test_a_path_that_is_no_file_is_named(path: str, message: str) -> None:
    with pytest.raises(BiLmError, match=f"got {path}; it is {message}$"):
        find_shards(path)


def test_a_table_in_place_of_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "dev.conllu"
    file.write_text("1\tAda\tAda\n2\tran\trun\n")
    with pytest.raises(BiLmError, match="expected one sentence per line, got columns between tabs"):
        list(read_sentences(str(file)))


def nothing_is_left_in(directory: Path) -> bool:
    return not [path for path in directory.rglob("*") if path.suffix != ".lock"]


@pytest.mark.parametrize("num_processes", [1, 2])
def test_a_corpus_yields_the_chunks_of_its_shards_in_order(
    texts: list[str], tmp_path: Path, num_processes: int
) -> None:
    made = prepare_corpus(texts, tmp_path / "cache", num_processes, chunk_tokens=3)
    assert (made.tokens, made.sentences) == (12, 6)
    sizes = [(chunk.tokens, chunk.sentences) for chunk in made.chunks]
    assert sizes == [(3, 1), (2, 1), (2, 1), (2, 2), (3, 1)]
    assert [chunk.open().words for chunk in made.chunks] == [
        ["a", "b"],
        ["why", "?"],
        ["c", "b"],
        ["a", "b"],
        ["c", "d", "e"],
    ]


def test_the_fingerprint_depends_on_contents_and_order(texts: list[str], tmp_path: Path) -> None:
    made = prepare_corpus(texts, tmp_path / "cache").fingerprint
    assert prepare_corpus(texts, tmp_path / "another").fingerprint == made
    assert prepare_corpus(texts[::-1], tmp_path / "cache").fingerprint != made
    Path(texts[1]).write_text("c  b\n")
    assert prepare_corpus(texts, tmp_path / "cache").fingerprint != made


def test_plain_and_compressed_text_gives_equal_chunks(tmp_path: Path) -> None:
    text = "".join(TEXTS).encode()
    contents = {"text": text, "text.gz": gzip.compress(text), "text.zst": zstandard.compress(text)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    made = prepare_corpus([str(tmp_path / name) for name in contents], tmp_path / "cache")
    plain, *others = (chunk.open() for chunk in made.chunks)
    for other in others:
        np.testing.assert_equal(other, plain)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("text", b"\n  \n", "is empty; remove"),
        ("latin.txt", "good\nschöne\n".encode("latin-1"), ", line 2: not UTF-8 text"),
        ("text.gz", gzip.compress(TEXT.encode() * 30, mtime=0)[:-9], ": not a whole gzip file"),
        ("text.zst", zstandard.compress(TEXT.encode() * 1000)[:-9], ": not a whole zstd file"),
    ],
)
def test_an_unreadable_shard_is_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BiLmError, match=f"{path}.*{message}"):
        prepare_shard(str(path), tmp_path / "corpora", chunk_tokens=1)
    assert nothing_is_left_in(tmp_path / "corpora")


def test_a_shard_is_prepared_once_and_identified_by_its_content(
    shard: Path, directory: Path
) -> None:
    prepared = prepare_shard(str(shard), directory)
    written = prepared[0].path.stat().st_mtime_ns
    assert prepare_shard(str(shard), directory) == prepared
    copy = shard.with_name("copy.txt")
    copy.write_bytes(shard.read_bytes())
    os.utime(shard, ns=(0, 0))
    assert prepare_shard(str(shard), directory) == prepare_shard(str(copy), directory) == prepared
    assert prepared[0].path.stat().st_mtime_ns == written
    status = shard.stat()
    shard.write_text(TEXT.swapcase())
    os.utime(shard, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert prepare_shard(str(shard), directory) != prepared


@pytest.mark.slow
def test_processes_may_prepare_the_same_shard_at_the_same_time(
    shard: Path, directory: Path
) -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        prepared = pool.starmap(prepare_shard, [(str(shard), directory, 2)] * 8, chunksize=1)
    assert all(chunks == prepared[0] for chunks in prepared)
    assert [files.sentences for files in prepared[0]] == [1, 1, 1, 1]
    assert not list(directory.glob(".*"))


def test_leftovers_of_a_killed_process_are_harmless(shard: Path, directory: Path) -> None:
    folder = prepare_shard(str(shard), directory)[0].path.parent
    leftover = directory / f".{folder.name}.abcd1234"
    leftover.mkdir()
    folder.rename(leftover / folder.name)
    assert prepare_shard(str(shard), directory)[0].path.parent == folder
    (folder / "pieces.json").write_text("[[")
    assert prepare_shard(str(shard), directory)[0].tokens == 8
    assert not list(directory.glob(".*"))


def _changing(shard: Path) -> tuple[str, Callable, str]:
    def read(path: str) -> Iterator[list[str]]:
        yield from read_sentences(path)
        shard.write_text(TEXT * 2)

    return "read_sentences", read, f"{shard} was changed while it was read"


def _full_disk(shard: Path) -> tuple[str, Callable, str]:
    def write(path: Path, *args) -> None:
        write_corpus_chunk(path, *args)
        raise OSError(28, "No space left on device")

    return (
        "write_corpus_chunk",
        write,
        f"cannot prepare {shard} .*{shard.parent}.*: the disk is full",
    )


@pytest.mark.parametrize("failure", [_changing, _full_disk])
def test_a_failed_preparation_is_named_and_leaves_nothing_behind(
    shard: Path, directory: Path, monkeypatch: pytest.MonkeyPatch, failure: Callable
) -> None:
    name, function, message = failure(shard)
    monkeypatch.setattr(corpus_module, name, function)
    with pytest.raises(BiLmError, match=message):
        prepare_shard(str(shard), directory)
    assert nothing_is_left_in(directory)
