"""A training's folder that was changed, a full disk, and several threads: one sentence or the same."""

import json
import os
import resource
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import spacy
from allennlp.common import Params, util
from allennlp.common.checks import ConfigurationError

from elmo_plugin import archives, hardening, plugin  # noqa: F401 (register and replace)
from elmo_plugin.archives import load_archive
from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.files import PARTS, atomic_write, temporary_folder
from elmo_plugin.common.spacy_in_allennlp import using_spacy_rules
from elmo_plugin.training.recovery import differences
from tests.forks import run_forked
from tests.small_bilm import loud_bilm, write_pair
from tests.trained_tagger import tagger_config


def run(config: dict[str, Any], folder: Path, recover: bool = False) -> None:
    params = Params(json.loads(json.dumps(config)))
    hardening.train_model(params, str(folder), recover=recover)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return tagger_config(write_pair(loud_bilm(), tmp_path_factory.mktemp("bilm")), ["input"])


@pytest.fixture(scope="module")
def finished(config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    run(config, folder)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A training that was killed before it packed its archive."""
    copy = shutil.copytree(finished, tmp_path / "run")
    (copy / "model.tar.gz").unlink()
    return copy


def replace_by(make: Callable[[Path], object], name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        make(path)

    return change


def loop(path: Path) -> None:
    path.symlink_to(path.name)


REFUSED = {
    "a folder for the configuration": (replace_by(Path.mkdir, "config.json"), "is not a file"),
    "a pipe for the configuration": (replace_by(os.mkfifo, "config.json"), "is not a file"),
    "a link to itself": (replace_by(loop, "config.json"), "cannot be read"),
    "a file for the vocabulary": (replace_by(Path.touch, "vocabulary"), "is not a folder"),
    "a folder for words": (replace_by(Path.mkdir, "vocabulary/labels.txt"), "is not a file"),
    "a pipe for words": (replace_by(os.mkfifo, "vocabulary/labels.txt"), "is not a file"),
    "a folder for weights": (replace_by(Path.mkdir, "best.th"), "is not a file"),
    "a pipe for a checkpoint": (replace_by(os.mkfifo, "model_state_e9_b0.th"), "is not a file"),
    "a folder for the log": (replace_by(Path.mkdir, "out.log"), "is not a file"),
    "damaged figures": (
        lambda folder: (folder / "metrics_epoch_0.json").write_text('{"a": '),
        "the figures of a finished epoch",
    ),
    "a list for figures": (
        lambda folder: (folder / "metrics_epoch_0.json").write_text("[]"),
        "expected a JSON object",
    ),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_a_changed_folder_is_named_in_one_sentence(
    change: Callable[[Path], None], message: str, config: dict[str, Any], folder: Path
) -> None:
    change(folder)
    with pytest.raises(ConfigurationError, match=message) as raised:
        run(config, folder, recover=True)
    assert str(folder) in str(raised.value) and "\n" not in str(raised.value)


REPAIRED = {
    "nothing": lambda folder: None,
    "no whole configuration": lambda folder: (folder / "config.json").write_text('{"model'),
    "a list for the configuration": lambda folder: (folder / "config.json").write_text("[1]"),
    "damaged words": lambda folder: (folder / "vocabulary" / "tokens.txt").write_bytes(b"\xff\n"),
    "no words": lambda folder: shutil.rmtree(folder / "vocabulary"),
    "damaged meta data": lambda folder: (folder / "meta.json").write_text("["),
}


@pytest.mark.parametrize("change", REPAIRED.values(), ids=REPAIRED)
def test_what_can_be_made_again_is(
    change: Callable[[Path], None], config: dict[str, Any], folder: Path, finished: Path
) -> None:
    change(folder)
    run(config, folder, recover=True)
    for name in ("best.th", "config.json", "metrics_epoch_0.json"):
        assert (folder / name).read_bytes() == (finished / name).read_bytes(), name
    for file in (finished / "vocabulary").glob("*.txt"):
        assert (folder / "vocabulary" / file.name).read_bytes() == file.read_bytes()
    assert load_archive(folder / "model.tar.gz").model is not None


@pytest.mark.parametrize("key", ["trainer.num_epochs", "model.new", "trainer.patience"])
def test_another_configuration_is_refused_with_its_differences(
    key: str, config: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = json.loads(json.dumps(config))
    section, name = key.split(".")
    if name in changed[section]:
        del changed[section][name]
    else:
        changed[section][name] = 77
    before = (folder / "config.json").read_bytes()
    monkeypatch.setattr(hardening, "mistakes", lambda config: [])
    with pytest.raises(ConfigurationError, match=key) as raised:
        run(changed, folder, recover=True)
    assert "put that back, or train in another folder" in str(raised.value)
    assert (folder / "config.json").read_bytes() == before


def test_differences_are_named_by_their_keys() -> None:
    written = {"a": {"b": 1, "c": [1]}, "d": {}}
    given = {"a": {"b": 2, "e": None}, "d": {}}
    assert list(differences(written, given)) == [
        "a.b was 1, and is 2",
        "a.c was [1], and is missing",
        "a.e is None, and was missing",
    ]
    assert list(differences(written, written)) == []


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param(100, marks=pytest.mark.slow),
        3_000,
        pytest.param(30_000, marks=pytest.mark.slow),
    ],
)
def test_a_full_disk_ends_a_training_with_one_sentence(
    limit: int, config: dict[str, Any], tmp_path: Path
) -> None:
    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        run(config, tmp_path / "run")

    ended = run_forked(work, tmp_path, 100)
    assert ended.status == 1
    assert "Traceback" not in ended.error, ended.error
    assert "it would be larger than files may be here" in ended.last_line
    assert "--recover continues" in ended.last_line


def test_an_archive_is_packed_whole_or_not_at_all(
    folder: Path, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "model.tar.gz").write_bytes(b"earlier")

    def fails(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tarfile.TarFile, "add", fails)
    with pytest.raises(KeyboardInterrupt):
        run(config, folder, recover=True)
    assert (folder / "model.tar.gz").read_bytes() == b"earlier"
    assert not list(folder.glob(".model*"))


def test_what_a_killed_command_left_goes_at_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    output = tmp_path / "new.tar.gz"

    def work() -> None:
        with temporary_folder("elmo_archive_") as folder, atomic_write(output) as temporary:
            (folder / "weights.th").touch()
            (temporary.parent / PARTS).mkdir()
            (temporary.parent / PARTS / "best.th").touch()
            os.kill(os.getpid(), 9)

    assert run_forked(work, tmp_path).status == -9
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 2
    with temporary_folder("elmo_archive_") as first:
        with temporary_folder("elmo_archive_") as second, atomic_write(output) as temporary:
            temporary.touch()
        assert first.is_dir() and not second.exists()  # a living folder stays
    assert list(tmp_path.iterdir()) == [output]


def test_a_foreign_link_among_temporary_files_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary" / "elmo_archive_12345678").symlink_to(tmp_path / "mine")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with temporary_folder("elmo_archive_"):
        pass
    assert (tmp_path / "mine" / "file").exists()


def test_a_pipe_in_the_folder_of_a_trained_model_is_refused(folder: Path) -> None:
    for name in ("config.json", "vocabulary/labels.txt", "meta.json"):
        copy = shutil.copytree(folder, folder.parent / f"copy_{name.replace('/', '_')}")
        replace_by(os.mkfifo, name)(copy)
        with pytest.raises(BiLmError, match=r"^directory .* is not a file$"):
            load_archive(copy)


@pytest.mark.slow
def test_models_are_loaded_in_several_threads(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(load_archive, [folder] * 8))
    assert len({id(archive.model) for archive in loaded}) == 8


@pytest.mark.slow
def test_rules_in_one_thread_leave_the_models_of_others_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """AllenNLP's own functions are asked, while another thread loads an archive by spaCy's rules."""
    loads: list[str] = []

    def load(name: str, **_: Any) -> Any:
        loads.append(name)
        return spacy.blank("de")

    monkeypatch.setattr(spacy, "load", load)
    inside = threading.Event()
    asked = threading.Event()

    def exchange() -> str:
        with using_spacy_rules({}, "it"):
            model = util.get_spacy_model("en_core_web_sm", True, False, False)
            inside.set()
            asked.wait(600)
        return model.lang

    with ThreadPoolExecutor(1) as pool:
        exchanged = pool.submit(exchange)
        assert inside.wait(600)
        theirs = util.get_spacy_model("planted_model", True, False, False)
        asked.set()
        assert exchanged.result() == "en"
    assert theirs.lang == "de" and loads == ["planted_model"]
