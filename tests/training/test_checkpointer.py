import logging
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training.trainer import TrainerCheckpoint

from elmo_plugin.common.formats.torch_files import save_tensors
from elmo_plugin.training.checkpointer import AtomicCheckpointer
from tests.payload import Payload


class Training:
    """A trainer that has come so far."""

    def __init__(self, epochs: int, batches: int) -> None:
        self.epochs, self.batches = epochs, batches

    def get_checkpoint_state(self) -> TrainerCheckpoint:
        state = {"epochs_completed": self.epochs, "batches_in_epoch_completed": self.batches}
        return TrainerCheckpoint({"weight": torch.full((10_000,), float(self.batches))}, state)


def loaded(folder: Path) -> tuple[int, int] | None:
    checkpoint = AtomicCheckpointer(folder).load_checkpoint()
    if checkpoint is None:
        return None
    state = checkpoint.trainer_state
    assert (checkpoint.model_state["weight"] == state["batches_in_epoch_completed"]).all()
    return state["epochs_completed"], state["batches_in_epoch_completed"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def saved(folder: Path, *points: tuple[int, int], **options: Any) -> AtomicCheckpointer:
    checkpointer = AtomicCheckpointer(folder, **options)
    for point in points:
        checkpointer.save_checkpoint(Training(*point))
    return checkpointer


def test_the_latest_checkpoints_are_kept_and_the_newest_is_read(tmp_path: Path) -> None:
    assert loaded(tmp_path) is None
    saved(tmp_path, (0, 2), (0, 4), (1, 0))
    assert names(tmp_path) == [
        "model_state_e0_b4.th",
        "model_state_e1_b0.th",
        "training_state_e0_b4.th",
        "training_state_e1_b0.th",
    ]
    assert loaded(tmp_path) == (1, 0)


def test_the_newest_checkpoint_is_kept_even_if_it_is_old_when_it_is_written(tmp_path: Path) -> None:
    """The process may stop for longer than checkpoints are to be kept."""
    options = {"keep_most_recent_by_count": None, "keep_most_recent_by_age": -1}
    saved(tmp_path, (0, 2), (0, 4), (1, 0), **options)
    assert names(tmp_path) == ["model_state_e1_b0.th", "training_state_e1_b0.th"]


def test_no_checkpoint_is_kept_if_their_number_is_zero(tmp_path: Path) -> None:
    saved(tmp_path, (0, 2), (0, 4), (1, 0), keep_most_recent_by_count=0)
    assert names(tmp_path) == []


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    saved(tmp_path, (0, 2))
    (tmp_path / "training_state_notes.th").write_bytes(b"no file of a checkpoint")
    complete = names(tmp_path)
    for leftover in (".model_state_e0_b4.th.abcd1234", ".best.th.abcd1234"):
        (tmp_path / leftover).mkdir()
        (tmp_path / leftover / "model_state_e0_b4.th").write_bytes(b"half")
    (tmp_path / "training_state_e0_b4.th").write_bytes(b"its model was not written")
    assert loaded(tmp_path) == (0, 2)
    assert names(tmp_path) == complete


@pytest.mark.parametrize("name", ["model_state", "training_state"])
@pytest.mark.parametrize("length", [0, 100, -100])
def test_a_damaged_checkpoint_is_set_aside_and_the_previous_one_is_used(
    name: str, length: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    saved(tmp_path, (0, 2), (0, 4))
    path = tmp_path / f"{name}_e0_b4.th"
    path.write_bytes(path.read_bytes()[:length])
    with caplog.at_level(logging.WARNING):
        assert loaded(tmp_path) == (0, 2)
    assert "model_state_e0_b4.th is incomplete or damaged" in caplog.text
    assert AtomicCheckpointer(tmp_path).find_latest_checkpoint()[0].endswith("model_state_e0_b2.th")
    saved(tmp_path, (0, 4))
    assert loaded(tmp_path) == (0, 4)


def test_a_truncated_first_checkpoint_is_set_aside_and_training_restarts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "model_state_e1_b0.th").write_bytes(b"half of it")
    with caplog.at_level(logging.WARNING):
        assert loaded(tmp_path) is None
    assert "training starts again" in caplog.text
    assert names(tmp_path) == ["damaged_model_state_e1_b0.th"]


def test_if_no_checkpoint_can_be_read_all_are_named(tmp_path: Path) -> None:
    saved(tmp_path, (0, 2), (0, 4))
    for path in tmp_path.iterdir():
        path.write_bytes(b"nothing")
    with pytest.raises(
        ConfigurationError, match=r"none .* be read: \S+_b4\.th \(.*\), \S+_b2\.th \(.*\)$"
    ):
        loaded(tmp_path)


def test_no_code_in_a_checkpoint_is_run(tmp_path: Path) -> None:
    saved(tmp_path, (0, 2), (0, 4))
    save_tensors({"weight": Payload(tmp_path / "ran")}, tmp_path / "model_state_e0_b4.th")
    assert loaded(tmp_path) == (0, 2)
    assert not (tmp_path / "ran").exists()


def fill_disk(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Has no space for the file of this name: the system's own device for that takes its place."""
    save = torch.save

    def save_to_full_disk(state: Any, file: Any) -> None:
        if Path(file.name).name == name:
            file.write(b"the beginning")
            with open("/dev/full", "wb") as full:
                save(state, full)
        save(state, file)

    monkeypatch.setattr(torch, "save", save_to_full_disk)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device /dev/full")
@pytest.mark.parametrize("name", ["model_state_e0_b4.th", "training_state_e0_b4.th"])
def test_a_full_disk_is_named_and_the_last_good_checkpoint_is_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, (0, 2))
    before = names(tmp_path)
    fill_disk(monkeypatch, name)
    expected = (
        rf"could not write .*{name}: the disk is full; the last good checkpoint is .*_e0_b2\.th"
    )
    with pytest.raises(OSError, match=expected):
        saved(tmp_path, (0, 4), keep_most_recent_by_count=1)
    assert names(tmp_path) == before
    assert loaded(tmp_path) == (0, 2)
