"""Files embedded by Dask on this machine, which has the same vectors as one process."""

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLmError
from elmo_plugin.embed_files import EmbedSettings, embed_file, embed_shards
from tests.embed_files.conftest import LINES, write_text


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_text(folder / "a.txt")
    (folder / "b.txt.gz").write_bytes(gzip.compress("\n".join(LINES[::-1]).encode()))
    write_text(folder / "c.txt", [])
    return folder


@contextmanager
def scheduler() -> Iterator[str]:
    """Of a cluster in this process."""
    distributed = pytest.importorskip("dask.distributed", reason="needs elmo_plugin[cluster]")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("output_format", ["hdf5", "safetensors"])
def test_each_file_has_the_output_that_one_process_writes(
    output_format: str, corpus: Path, settings: EmbedSettings, tmp_path: Path
) -> None:
    with scheduler() as address:
        outputs = embed_shards(f"{corpus}/*", tmp_path / "out", settings, output_format, address)
    assert [path.name for path in outputs] == [
        f"{name}.{output_format}" for name in ("a.txt", "b.txt.gz", "c.txt")
    ]
    for source, output in zip(sorted(corpus.iterdir()), outputs, strict=True):
        embed_file(source, tmp_path / "expected", settings, output_format)
        assert output.read_bytes() == (tmp_path / "expected").read_bytes()
        (tmp_path / "expected").unlink()


def test_the_error_of_a_file_is_raised_after_the_rest_are_done(
    corpus: Path, settings: EmbedSettings, tmp_path: Path
) -> None:
    (corpus / "a.txt").write_bytes(b"\xff\n")
    with scheduler() as address, pytest.raises(BiLmError, match=r"a\.txt, line 1: not UTF-8"):
        embed_shards(f"{corpus}/*", tmp_path / "out", settings, scheduler=address)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "b.txt.gz.hdf5",
        "c.txt.hdf5",
    ]


def test_missing_files_and_files_of_the_same_name_are_reported(
    corpus: Path, settings: EmbedSettings, tmp_path: Path
) -> None:
    pytest.importorskip("dask.distributed", reason="needs elmo_plugin[cluster]")
    with pytest.raises(BiLmError, match=r"no file matches .*\.txt\.zst"):
        embed_shards(f"{corpus}/*.txt.zst", tmp_path / "out", settings)
    (corpus / "more").mkdir()
    write_text(corpus / "more" / "a.txt")
    with pytest.raises(BiLmError, match="have one name"):
        embed_shards(f"{corpus}/**", tmp_path / "out", settings)


def test_without_dask_the_extra_is_named(
    corpus: Path, settings: EmbedSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(BiLmError, match=r"needs Dask: install elmo_plugin\[cluster\]"):
        embed_shards(f"{corpus}/*", tmp_path / "out", settings)
