import os
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from allennlp.common.file_utils import FileLock

from elmo_plugin.bilm import BiLm, BiLmError, select_layers
from elmo_plugin.bilm.io import Checkpoint, write_files
from elmo_plugin.common import files
from elmo_plugin.embed_files import OUTPUT_FORMATS, EmbedSettings, embed_file, embedder, run
from elmo_plugin.embed_files.chunks import Chunk
from elmo_plugin.embed_files.embedder import Embedder
from tests.embed_files.conftest import LINES, write_text

FULL = Path("/dev/full")
EVERY_FORMAT = pytest.mark.parametrize("name", ["out.hdf5", "out.safetensors"])


def vectors_in(path: Path) -> list[np.ndarray]:
    with h5py.File(path) as file:
        return [file[str(line)][()] for line in range(len(file) - ("sentence_to_index" in file))]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("layers", ["all", "top", "mean"])
def test_each_line_gets_the_vectors_of_its_words(
    layers: str, bilm: BiLm, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    assert embed_file(text, tmp_path / "out.hdf5", replace(settings, layers=layers))
    found = vectors_in(tmp_path / "out.hdf5")
    assert len(found) == len(LINES)
    for vectors, line in zip(found, LINES, strict=True):
        vectors_of_layers = bilm.embed([line.split()])[0]
        expected = {
            "all": vectors_of_layers,
            "top": vectors_of_layers[2],
            "mean": vectors_of_layers.sum(dim=0) / 3,
        }[layers]
        assert vectors.dtype == np.float32 and vectors.shape == expected.shape
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert names(tmp_path) == ["bilm", "out.hdf5", "text.txt"]


@pytest.mark.parametrize(
    ("lines", "tokenizer", "warned_of"),
    [
        (["I love this.", "", "Do you?"], "whitespace", "'this.'"),
        (["我爱北京。", "是吗？"], "whitespace", "'我爱北京。'"),  # noqa: RUF001
        (["I love this."], "spacy", ""),
        (["I love this .", "I live in the U.S.", "A heading"], "whitespace", ""),
        ([""], "whitespace", ""),
    ],
)
def test_text_that_looks_untokenized_is_reported_once(
    lines: list[str],
    tokenizer: str,
    warned_of: str,
    settings: EmbedSettings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = write_text(tmp_path / "text.txt", lines * 3)
    embed_file(text, tmp_path / "out.hdf5", replace(settings, tokenizer=tokenizer))
    found = [each for each in caplog.messages if "are not split" in each]
    assert len(found) == bool(warned_of)
    assert all(f"{text}: words such as {warned_of}" in each for each in found)


@pytest.mark.parametrize("name", ["out.hdf5", "out.safetensors"])
def test_a_pipe_receives_the_vectors_and_a_symlink_is_kept(
    name: str, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    whole, pipe, link = (tmp_path / f"{kind}_{name}" for kind in ("whole", "pipe", "link"))
    os.mkfifo(pipe)
    link.symlink_to(f"target_{name}")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    for output in (whole, pipe, link):
        assert embed_file(text, output, settings)
    reader.join()
    assert found == [whole.read_bytes()] == [(tmp_path / f"target_{name}").read_bytes()]
    assert pipe.is_fifo() and link.is_symlink()
    assert not list(tmp_path.glob("*.unfinished"))


# What is there already


@EVERY_FORMAT
def test_a_complete_output_is_not_rewritten(
    name: str, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    assert embed_file(text, tmp_path / name, settings)
    before = (tmp_path / name).stat().st_mtime_ns
    (tmp_path / f"{name}.unfinished").mkdir()  # of a process that was killed at the very end
    assert not embed_file(text, tmp_path / name, settings)
    assert (tmp_path / name).stat().st_mtime_ns == before
    assert names(tmp_path) == ["bilm", name, "text.txt"]


@pytest.mark.parametrize("content", [b"", b"somebody's own"])
def test_a_file_that_is_not_an_output_is_not_overwritten(
    content: bytes, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    (tmp_path / "out.hdf5").write_bytes(content)
    with pytest.raises(BiLmError, match=r"out\.hdf5 already exists"):
        embed_file(text, tmp_path / "out.hdf5", settings)
    assert (tmp_path / "out.hdf5").read_bytes() == content
    assert names(tmp_path) == ["bilm", "out.hdf5", "text.txt"]


def test_an_output_of_other_arguments_or_text_is_refused(
    settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    embed_file(text, tmp_path / "out.hdf5", settings)
    with pytest.raises(BiLmError, match=r"made with other arguments \(layers was all, not top"):
        embed_file(text, tmp_path / "out.hdf5", replace(settings, layers="top"))
    with text.open("a") as file:
        file.write("more\n")
    with pytest.raises(BiLmError, match="made from another text"):
        embed_file(text, tmp_path / "out.hdf5", settings)


# What was begun


class Killed(BaseException):
    """Takes the place of a kill."""


def begin(
    source: Path, output: Path, settings: EmbedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embeds three chunks, and no more."""
    embed = Embedder.embed

    def stop(embedder: Embedder, chunk: Chunk) -> Any:
        if chunk.number == 3:
            raise Killed
        return embed(embedder, chunk)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Embedder, "embed", stop)
        embed_file(source, output, settings)


@pytest.mark.slow
@pytest.mark.usefixtures("short_chunks")
@EVERY_FORMAT
def test_an_interrupted_run_continues_to_the_same_bytes(
    name: str, settings: EmbedSettings, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed_file(text, tmp_path / f"whole_{name}", settings)
    begin(text, tmp_path / name, settings, monkeypatch)
    folder = tmp_path / f"{name}.unfinished"
    assert {"00000000.npz", "00000002.npz"} < set(names(folder)) and not (tmp_path / name).exists()
    (folder / "00000000.npz").unlink()
    content = bytearray((folder / "00000001.npz").read_bytes())
    content[-500] ^= 1
    (folder / "00000001.npz").write_bytes(bytes(content))
    (folder / ".00000003.npz.abcd").mkdir()  # half-written by a process that was killed
    done = []
    embed = Embedder.embed

    def note(embedder: Embedder, chunk: Chunk) -> Any:
        done.append(chunk.number)
        return embed(embedder, chunk)

    monkeypatch.setattr(Embedder, "embed", note)
    embed_file(text, tmp_path / name, settings)
    assert done[:3] == [0, 1, 3]
    assert (tmp_path / name).read_bytes() == (tmp_path / f"whole_{name}").read_bytes()
    assert not folder.exists()


def test_two_processes_do_not_write_the_same_output(
    settings: EmbedSettings, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SECONDS_TO_END", 0)
    with (
        FileLock(tmp_path / ".out.hdf5.unfinished.lock"),
        pytest.raises(BiLmError, match=r"another process is writing .*out\.hdf5"),
    ):
        embed_file(text, tmp_path / "out.hdf5", settings)


# What goes wrong


@pytest.mark.usefixtures("short_chunks")
def test_after_bad_text_finished_chunks_are_kept(settings: EmbedSettings, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(b"\xff\n")
    with pytest.raises(BiLmError, match=r"text\.txt, line 1: not UTF-8 text"):
        embed_file(tmp_path / "text.txt", tmp_path / "out.hdf5", settings)
    assert names(tmp_path) == ["bilm", "text.txt"]
    (tmp_path / "text.txt").write_bytes(b"good text\n" * 9 + b"\xff\n")
    with pytest.raises(BiLmError, match=r"text\.txt, line 10: not UTF-8 text"):
        embed_file(tmp_path / "text.txt", tmp_path / "out.hdf5", settings)
    assert names(tmp_path) == ["bilm", "out.hdf5.unfinished", "text.txt"]
    (tmp_path / "text.txt").write_bytes(b"good text\n" * 9 + b"\xc3\xa4\n")
    assert embed_file(tmp_path / "text.txt", tmp_path / "out.hdf5", settings)


@pytest.mark.usefixtures("short_chunks")
@EVERY_FORMAT
def test_a_full_disk_is_named_and_the_run_continues_when_there_is_room(
    name: str, settings: EmbedSettings, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        kind = OUTPUT_FORMATS[name.removeprefix("out.")]
        full = kind._replace(write=lambda path, *rest: kind.write(FULL, *rest))
        patch.setitem(OUTPUT_FORMATS, name.removeprefix("out."), full)
        with pytest.raises(OSError, match=rf"could not write .*{name}: the disk is full"):
            embed_file(text, tmp_path / name, settings)
    assert names(tmp_path) == ["bilm", f"{name}.unfinished", "text.txt"]
    assert embed_file(text, tmp_path / name, settings)


def test_a_line_that_is_too_long_is_named(settings: EmbedSettings, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b\nc d e f\n")
    with pytest.raises(
        BiLmError, match=r"text\.txt, line 2: the sentence has 4 words, .*--max-words 3"
    ):
        embed_file(tmp_path / "text.txt", tmp_path / "out.hdf5", replace(settings, max_words=3))
    (tmp_path / "text.txt").write_text("a b\n" + 40_000 * "/ ")
    with pytest.raises(BiLmError, match=r"text\.txt, line 2: .* leave out --use-sentence-keys"):
        embed_file(tmp_path / "text.txt", tmp_path / "out.hdf5", replace(settings, keys="sentence"))
    assert names(tmp_path) == ["bilm", "text.txt"]


def test_vectors_beyond_float16_are_refused_naming_the_line(
    bilm: BiLm, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    large = BiLm(bilm.options).requires_grad_(False)
    large.load_state_dict(bilm.state_dict())
    large.token_encoder.projection.weight *= 1e6
    write_files(tmp_path / "large", Checkpoint(large.options, large.state_dict().items()))
    of_large = replace(settings, bilm=str(tmp_path / "large"))
    assert embed_file(text, tmp_path / "out.hdf5", of_large)
    with pytest.raises(
        BiLmError, match=r"text\.txt, line \d+: a value of .* does not fit into float16"
    ):
        embed_file(text, tmp_path / "half.hdf5", replace(of_large, dtype="float16"))


def test_the_number_that_does_not_fit_into_float16_is_of_the_output_not_of_a_layer(
    settings: EmbedSettings, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_large_gamma(vectors: torch.Tensor, layers: str) -> torch.Tensor:
        return 1e6 * select_layers(vectors, layers)

    monkeypatch.setattr(embedder, "select_layers", with_a_large_gamma)
    with pytest.raises(BiLmError, match="does not fit into float16") as refused:
        embed_file(text, tmp_path / "half.hdf5", replace(settings, layers="top", dtype="float16"))
    number = re.search(r"a value of (\S+) ", str(refused.value))
    assert number is not None
    assert float(number.group(1)) > float(np.finfo(np.float16).max)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"layers": "bottom"},
            "layers: expected one of all, mean, sum, top, token, mix, got 'bottom'",
        ),
        ({"tokenizer": "spacy", "language": "tlh"}, "spaCy has no rules for language 'tlh'"),
        ({"dtype": "int8"}, "dtype: expected one of float32, float16"),
        ({"batch_size": 0}, "batch_size: expected at least 1, got 0"),
        ({"gzip": 10}, "gzip: expected 1 to 9, got 10"),
        ({"placement": "input"}, "a placement goes with the mix"),
        ({"keys": "name"}, 'keys: "name" is for the proteins of FASTA'),
    ],
)
def test_wrong_settings_are_named(
    change: dict[str, Any], message: str, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    with pytest.raises(BiLmError, match=message):
        embed_file(text, tmp_path / "out.hdf5", replace(settings, **change))
    assert names(tmp_path) == ["bilm", "text.txt"]


@pytest.mark.parametrize(
    ("source", "output", "message"),
    [
        ("absent", "out.hdf5", "absent: file not found"),
        (
            "text.txt",
            "bilm",
            "bilm: unknown suffix '': use .hdf5, .h5, .safetensors, .npz, .csv, or",
        ),
        ("text.txt", "folder.hdf5", "folder.hdf5 is a directory"),
    ],
)
def test_wrong_files_are_named(
    source: str, output: str, message: str, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder.hdf5").mkdir()
    with pytest.raises(BiLmError, match=message):
        embed_file(tmp_path / source, tmp_path / output, settings)
    for change in ({"gzip": 4}, {"keys": "sentence"}):
        with pytest.raises(
            BiLmError, match="safetensors does not support compression or sentence keys"
        ):
            embed_file(text, tmp_path / "out.safetensors", replace(settings, **change))


def test_devices_of_several_kinds_are_refused(
    settings: EmbedSettings, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of them embeds a chunk, and so the last bits of its vectors, would be up to chance."""
    monkeypatch.setattr(run, "get_device", torch.device)  # as if this machine had GPUs
    with pytest.raises(BiLmError, match="expected one kind of device, got cpu and cuda"):
        embed_file(text, tmp_path / "out.hdf5", settings, devices=["cuda:0", "cpu", "cuda:1"])
