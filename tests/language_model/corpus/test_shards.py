import gzip
import multiprocessing
import os
from pathlib import Path

import pytest
import zstandard

from elmo_plugin.bilm import BiLmError
from elmo_plugin.language_model.corpus import chunks, shards
from elmo_plugin.language_model.corpus.shards import find_prepared, prepare, read_sentences

TEXT = "a b a\n\nwhy ?\nc b\nSchön\n"


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "corpora"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where chunks have been written."""
    paths = []

    def write_corpus_chunk(path: Path, *args) -> int:
        paths.append(path)
        return chunks.write_corpus_chunk(path, *args)

    monkeypatch.setattr(shards, "write_corpus_chunk", write_corpus_chunk)
    return paths


def nothing_is_left_in(directory: Path) -> bool:
    return not [path for path in directory.rglob("*") if path.suffix != ".lock"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text", b""),
        ("text", b"\n  \n"),
        ("text.gz", gzip.compress(b"", mtime=0)),
        ("text.zst", zstandard.compress(b"\n")),
    ],
)
def test_a_shard_without_a_sentence_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BiLmError, match=f"{path} has no sentence in it"):
        prepare(str(path), tmp_path / "corpora")
    assert nothing_is_left_in(tmp_path / "corpora")


def test_text_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("good\nschöne\n".encode("latin-1"))
    with pytest.raises(BiLmError, match=f"{path}, line 2: not UTF-8 text"):
        prepare(str(path), tmp_path / "corpora", chunk_tokens=1)
    assert nothing_is_left_in(tmp_path / "corpora")


@pytest.mark.parametrize(("name", "compress"), [("gz", gzip.compress), ("zst", zstandard.compress)])
def test_a_damaged_shard_is_named(tmp_path: Path, name: str, compress) -> None:
    path = tmp_path / f"text.{name}"
    path.write_bytes(compress(TEXT.encode() * 1000)[:-9])
    with pytest.raises(BiLmError, match=f"{path}: not a whole {'gzip' if name == 'gz' else 'zstd'} file"):
        prepare(str(path), tmp_path / "corpora")
    assert nothing_is_left_in(tmp_path / "corpora")


def test_a_shard_is_prepared_once(shard: Path, directory: Path, written: list[Path]) -> None:
    assert find_prepared(str(shard), directory) is None
    first = prepare(str(shard), directory)
    assert prepare(str(shard), directory) == find_prepared(str(shard), directory) == first
    assert len(written) == 1


def test_a_shard_is_known_by_its_content(
    shard: Path, directory: Path, written: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(str(shard), directory)
    copy = shard.with_name("copy.txt")
    copy.write_bytes(shard.read_bytes())
    os.utime(shard, ns=(0, 0))
    assert find_prepared(str(shard), directory) is find_prepared(str(copy), directory) is None
    assert prepare(str(shard), directory) == prepare(str(copy), directory) == prepared
    assert len(written) == 1
    shard.write_text("other text\n")
    assert prepare(str(shard), directory).folder != prepared.folder
    assert len(written) == 2


def test_the_content_of_a_file_is_not_read_again_to_tell_it(
    shard: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(str(shard), directory)
    monkeypatch.setattr(shards, "_content", lambda shard: pytest.fail("the shard is read"))
    assert find_prepared(str(shard), directory) == prepare(str(shard), directory) == prepared


def test_the_name_tells_how_the_content_is_read(shard: Path, directory: Path) -> None:
    compressed = shard.with_suffix(".gz")
    compressed.write_bytes(gzip.compress(TEXT.encode()))
    prepare(str(compressed), directory)
    compressed.rename(shard)
    with pytest.raises(BiLmError, match=f"{shard} is compressed by gzip, but its name does not end in .gz"):
        prepare(str(shard), directory)


def test_processes_that_prepare_the_same_shard_at_the_same_time_agree(shard: Path, directory: Path) -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        prepared = pool.starmap(prepare, [(str(shard), directory, 2)] * 8, chunksize=1)
    assert all(one == prepared[0] for one in prepared)
    assert [files.sentences for files in prepared[0].chunks] == [1, 1, 1, 1]
    assert not list(directory.glob(".*"))


def test_what_a_killed_process_left_does_no_harm(shard: Path, directory: Path) -> None:
    folder = prepare(str(shard), directory).folder
    leftover = directory / f".{folder.name}.abcd1234"
    leftover.mkdir()
    folder.rename(leftover / folder.name)
    assert prepare(str(shard), directory).folder == folder
    (folder / "pieces.json").write_text("[[")
    assert find_prepared(str(shard), directory) is None
    assert prepare(str(shard), directory).chunks[0].tokens == 8
    assert not list(directory.glob(".*"))


def test_a_shard_that_vanishes_is_named(
    shard: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanishing(path: str) -> str:
        shard.unlink()
        return "content"

    monkeypatch.setattr(shards, "_content", vanishing)
    for look in (prepare, find_prepared):
        with pytest.raises(BiLmError, match=f"{shard} is gone; put it back or remove it"):
            look(str(shard), directory)
    assert nothing_is_left_in(directory)


def test_a_shard_that_changes_while_it_is_read_is_named(
    shard: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_and_write(path: str):
        yield from read_sentences(path)
        shard.write_text(TEXT * 2)

    monkeypatch.setattr(shards, "read_sentences", read_and_write)
    with pytest.raises(BiLmError, match=f"{shard} was changed while it was read"):
        prepare(str(shard), directory)
    assert nothing_is_left_in(directory)


def test_a_full_disk_is_named_and_nothing_is_left(
    shard: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_corpus_chunk(path: Path, *args) -> None:
        chunks.write_corpus_chunk(path, *args)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shards, "write_corpus_chunk", write_corpus_chunk)
    with pytest.raises(BiLmError, match=f"cannot prepare {shard} .*{directory}.*: the disk is full"):
        prepare(str(shard), directory)
    assert nothing_is_left_in(directory)
