"""AllenNLP's own reading and writing of archives, with the checks around it."""

import io
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from allennlp.commands import train as train_command
from allennlp.common.checks import ConfigurationError
from allennlp.models import load_archive

from elmo_plugin import hardening  # noqa: F401 (acts when imported)
from elmo_plugin.common.formats import torch_files
from tests.payload import Payload
from tests.small_bilm import loud_bilm, write_pair
from tests.trained_tagger import tagger_config, train

Change = Callable[[dict[str, bytes]], None]


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tagger") / "run"
    train(tagger_config(write_pair(loud_bilm(), folder.parent), ["input"]), folder)
    return folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def changed(training: Path, folder: Path, change: Change) -> Path:
    """Writes the archive of the training with other content."""
    files = {}
    with tarfile.open(training / "model.tar.gz") as archive:
        for member in archive:
            if member.isfile():
                content = archive.extractfile(member)
                assert content is not None
                files[member.name] = content.read()
    change(files)
    path = folder / "changed.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def flip_weights(files: dict[str, bytes]) -> None:
    content = bytearray(files["weights.th"])
    content[len(content) // 2] ^= 1
    files["weights.th"] = bytes(content)


def spoil_weights(files: dict[str, bytes]) -> None:
    state = torch.load(io.BytesIO(files["weights.th"]), weights_only=True)
    state["tag_projection.bias"][0] = float("nan")
    buffer = io.BytesIO()
    torch.save(state, buffer)
    files["weights.th"] = buffer.getvalue()


def write_outside(files: dict[str, bytes]) -> None:
    files["../outside"] = b"x"


def remove(name: str) -> Change:
    return lambda files: files.pop(name) and None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (write_outside, "'../outside' in it would be written outside its folder"),
        (flip_weights, "its weights are damaged"),
        (spoil_weights, "tag_projection.bias has NaN in it"),
        (remove("config.json"), "its config.json: there is no such file"),
        (remove("weights.th"), "has no weights.th or best.th"),
        (remove("vocabulary/non_padded_namespaces.txt"), "its model cannot be made"),
        (lambda files: files.update({"config.json": b"{"}), "its config.json, line 1: not JSON"),
        (lambda files: files.update({"config.json": b"[]"}), "its config.json: expected a JSON object"),
        (lambda files: files.update({"config.json": b"{}"}), "its config.json has no model"),
        (lambda files: files.update({"weights.th": b"none"}), "its model cannot be made"),
    ],
)
def test_a_bad_archive_is_named_and_leaves_nothing_behind(
    training: Path, tmp_path: Path, temporary: Path, change: Change, message: str
) -> None:
    path = changed(training, tmp_path, change)
    with pytest.raises(ConfigurationError) as raised:
        load_archive(path)
    assert str(raised.value).startswith(f"archive {path}: ") or f"archive {path}, " in str(raised.value)
    assert message in str(raised.value)
    assert not list(temporary.iterdir()) and not (tmp_path / "outside").exists()


def test_a_good_archive_and_its_folder_give_the_same_model(training: Path, temporary: Path) -> None:
    of_archive, of_folder = (load_archive(path).model for path in (training / "model.tar.gz", training))
    for name, values in of_archive.state_dict().items():
        if isinstance(values, torch.Tensor):
            assert torch.equal(values, of_folder.state_dict()[name])
    assert not list(temporary.iterdir())


def test_the_damaged_weights_of_a_folder_are_named(training: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(training, tmp_path / "run")
    content = bytearray((folder / "best.th").read_bytes())
    content[5000] ^= 1
    (folder / "best.th").unlink()
    (folder / "best.th").write_bytes(bytes(content))
    with pytest.raises(ConfigurationError, match=f"directory {folder}: its weights are damaged"):
        load_archive(folder)


def test_an_archive_has_the_model_and_what_was_asked_for(training: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(training, tmp_path / "run")
    (folder / "notes").mkdir()
    for name in ("a.txt", "b.txt", "c.json"):
        (folder / "notes" / name).write_text(name)
    archived = train_command.archive_model(folder, include_in_archive=["notes/*.txt", "missing"])
    with tarfile.open(archived) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        content = {name: file.read() for name, file in files.items() if file is not None}
    vocabulary = {f"vocabulary/{path.name}" for path in (folder / "vocabulary").iterdir()}
    expected = {"config.json", "weights.th", "meta.json", "notes/a.txt", "notes/b.txt"}
    assert set(content) == expected | vocabulary
    assert content["weights.th"] == (folder / "best.th").read_bytes()
    assert content["notes/a.txt"] == b"a.txt"


@pytest.mark.slow
def test_an_archive_is_written_whole_or_not_at_all(training: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(training, tmp_path / "run")
    before = (folder / "model.tar.gz").read_bytes()
    shutil.rmtree(folder / "vocabulary")
    with pytest.raises(FileNotFoundError):
        train_command.archive_model(folder)
    assert (folder / "model.tar.gz").read_bytes() == before
    assert not list(folder.glob(".model.tar.gz*"))


def test_code_in_weights_is_not_run_by_a_torch_that_would(
    training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plant(files: dict[str, bytes]) -> None:
        buffer = io.BytesIO()
        torch.save({"weight": Payload(tmp_path / "ran")}, buffer)
        files["weights.th"] = buffer.getvalue()

    path = changed(training, tmp_path, plant)
    for version in ((2, 5), (2, 6)):
        monkeypatch.setattr(torch_files, "_TORCH", version)
        with pytest.raises(ConfigurationError, match=f"archive {path}: its "):
            load_archive(path)
    assert not (tmp_path / "ran").exists()
