"""A NUL in a key, paths that are not UTF-8, and too little memory: one sentence, or the result."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from allennlp.common.util import SigTermReceived

from elmo_plugin.archives import naming_archive
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.main import main
from elmo_plugin.common import downloads
from elmo_plugin.common.errors import is_lack_of_memory
from elmo_plugin.common.files import read_bytes
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.common.formats.formulas import count_formulas
from elmo_plugin.common.formats.hdf5_files import open_hdf5
from elmo_plugin.common.formats.torch_files import check_tensors, load_plain
from elmo_plugin.embed_files.outputs import OUTPUT_FORMATS
from elmo_plugin.importers import ImportOptions, Report
from elmo_plugin.importers.spacy_documents import sentences_of_doc_bin, sentences_of_training_json
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.language_model.chunks import ChunkFile
from elmo_plugin.migration.porting.archive import _use_stored_files


def test_a_nul_in_a_key_of_an_archive_names_no_file(tmp_path: Path) -> None:
    (tmp_path / "files_to_archive.json").write_text(json.dumps({"model\0.x": "a", "model.x": "b"}))
    config = {"model": {"x": "old"}, "model\0": {"x": "old"}}
    assert _use_stored_files(config, tmp_path) == {}


def test_a_nul_in_a_path_is_an_error_with_a_name() -> None:
    with pytest.raises(BiLmError, match=r"^it: cannot be read \(embedded null byte\)$"):
        read_bytes("a\0b", "it")
    with pytest.raises(BiLmError):
        BiLm.from_pretrained({"options": "a\0b", "weights": "c"})


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_paths_that_are_not_utf_8_are_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"a\xff.txt")
    Path(name).write_text("Ada lives .\n")
    for suffix in ("h5", "npz", "csv"):
        output = os.fsdecode(b"o\xff.") + suffix
        main(["embed", name, output, "--bilm", "tiny", "-q"])
        assert Path(output).stat().st_size > 0
    with pytest.raises(SystemExit):
        main(["embed", os.fsdecode(b"gone\xff"), "x.h5", "--bilm", "tiny"])
    assert capsys.readouterr().err


def test_formulas_are_told_from_numbers_and_signs() -> None:
    formulas = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1"]
    others = ["a=b", "-1.5", "+3e5", "-", "=", "", 5, -1.5, None]
    assert count_formulas(formulas) == len(formulas)
    assert count_formulas(others) == 0


def test_too_little_memory_is_recognized() -> None:
    assert is_lack_of_memory(MemoryError())
    assert is_lack_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"))
    assert not is_lack_of_memory(RuntimeError("shapes do not match"))
    assert not is_lack_of_memory(ImportError("no module"))


def test_too_little_memory_is_not_reported_as_a_fault_of_the_archive() -> None:
    for error in (
        MemoryError(),
        torch.cuda.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"),
    ):
        with pytest.raises(type(error)) as raised, naming_archive("archive a"):
            raise error
        assert raised.value is error
    with (
        pytest.raises(BiLmError, match=r"^archive a: shapes do not match$"),
        naming_archive("archive a"),
    ):
        raise RuntimeError("shapes do not match")


def _tagged_file(file: Path) -> TaggedFile:
    return TaggedFile(str(file), ImportOptions(), Report(str(file)), prefers_entities=True)


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "weights": ("torch.load", lambda file: load_plain(file, "it")),
    "checksums": ("zipfile.is_zipfile", lambda file: check_tensors(file, "it")),
    "an archive": ("tarfile.open", lambda file: unpack(file, file.parent / "unpacked")),
    "HDF5": ("h5py.File", lambda file: open_hdf5(file, "it").__enter__()),
    "a description": (
        "json.loads",
        lambda file: OUTPUT_FORMATS["hdf5"]._replace(read_json=str).read_description(file),
    ),
    "prepared text": ("numpy.load", lambda file: ChunkFile(file, 1, 1).read("words")),
    "documents of spaCy": (
        "spacy.tokens.DocBin.from_bytes",
        lambda file: list(sentences_of_doc_bin(_tagged_file(file))),
    ),
    "JSON of spaCy": (
        "json.loads",
        lambda file: list(sentences_of_training_json(_tagged_file(file))),
    ),
    "a download": (
        "elmo_plugin.common.downloads._download",
        lambda _: downloads.fetch("https://example.org/file"),
    ),
}


@pytest.mark.parametrize(("patched", "read"), READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.cuda.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"),
        SigTermReceived(),
    ],
    ids=["machine", "GPU", "torch", "SIGTERM"],
)
def test_readers_blame_no_file_for_too_little_memory_or_a_signal(
    patched: str,
    read: Callable[[Path], object],
    error: Exception,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    (tmp_path / "file").write_bytes(b"content")
    monkeypatch.setattr(patched, fail)
    with pytest.raises(type(error)) as raised:
        read(tmp_path / "file")
    assert raised.value is error


def test_too_little_memory_ends_a_command_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lack_memory(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")

    monkeypatch.setattr("elmo_plugin.embed_files.embed_file", lack_memory)
    (tmp_path / "text.txt").write_text("a\n")
    with pytest.raises(SystemExit, match="too little memory") as ended:
        main(["embed", str(tmp_path / "text.txt"), str(tmp_path / "out.h5"), "--bilm", "tiny"])
    assert "\n" not in str(ended.value)


@pytest.mark.slow
def test_a_process_with_too_little_memory_prints_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a " * 3_000 + "\n")
    program = (
        "import resource, sys\n"
        "from elmo_plugin.bilm import BiLm\n"
        "from elmo_plugin.commands.main import main\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + 10**7, resource.RLIM_INFINITY))\n"
        "main(['embed', 'text.txt', 'out.h5', '--bilm', 'base', '-q'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 1
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    assert len(lines) == 1 and "too little memory" in lines[0], ended.stderr


def test_a_download_that_changed_in_the_cache_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = tmp_path / "cache" / "0123.etag"
    cached.parent.mkdir()
    cached.write_bytes(b"weights")
    monkeypatch.setenv("ALLENNLP_CACHE_ROOT", str(tmp_path))
    monkeypatch.setattr(downloads, "_download", lambda url: cached)
    for _ in range(2):
        assert downloads.fetch("https://example.org/weights") == cached
    cached.write_bytes(b"Weights")
    with pytest.raises(BiLmError, match=r"0123\.etag has changed since its download: remove it"):
        downloads.fetch("https://example.org/weights")
    assert downloads.fetch(str(cached)) == cached  # a path is not a download
