"""Checkpoints of AllenNLP's own trainer and checkpointer are whole, and damage to them is named."""

import functools
import os
import resource
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training import checkpointer
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

from elmo_plugin import hardening  # noqa: F401 (acts when imported)
from elmo_plugin.common.formats import torch_files
from tests.payload import Payload
from tests.trained_tagger import tagger_config, train


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()  # the best weights may be a second name of a checkpoint
    path.write_bytes(bytes(content))


@pytest.mark.slow
def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    config = tagger_config("tiny", ["input"])
    train(config, tmp_path / "run")
    for name in ("model_state_e2_b0.th", "training_state_e2_b0.th"):
        whole = (tmp_path / "run" / name).read_bytes()
        flip(tmp_path / "run" / name)
        with pytest.raises(
            ConfigurationError, match=f"--recover: {tmp_path}/run/{name}: its weights are damaged"
        ):
            train(config, tmp_path / "run", recover=True)
        (tmp_path / "run" / name).write_bytes(whole)
    train(config, tmp_path / "run", recover=True)


def test_a_full_disk_is_named_and_leaves_no_half_checkpoint(tmp_path: Path) -> None:
    config = tagger_config("tiny", ["input"])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(OSError, match=rf"could not write {tmp_path}/run/.*\.th: it would be larger"):
            train(config, tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    for file in (tmp_path / "run").rglob("*.th"):
        torch.load(file, weights_only=True)
    assert not [name for name in os.listdir(tmp_path / "run") if name.startswith(".")]


def test_code_in_a_checkpoint_is_not_run_by_a_torch_that_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("model_state_e1_b0.th", "training_state_e1_b0.th"):
        torch.save({"weight": Payload(tmp_path / "ran")}, tmp_path / name)
    monkeypatch.setattr(torch_files, "_TORCH", (2, 5))
    old_load = functools.partial(torch.load, weights_only=False)
    monkeypatch.setattr(checkpointer.torch, "load", lambda *args, **options: old_load(*args, **options))
    with pytest.raises(ConfigurationError, match=r"model_state_e1_b0\.th: its weights are not plain tensors"):
        checkpointer.Checkpointer(str(tmp_path)).load_checkpoint()
    assert not (tmp_path / "ran").exists()


def test_best_weights_that_are_not_there_yet_are_not_archived(tmp_path: Path) -> None:
    """Ctrl-C between choosing the name `best.th` and making the file."""
    trainer = GradientDescentTrainer.__new__(GradientDescentTrainer)
    trainer._best_model_filename = str(tmp_path / "best.th")
    assert trainer.get_best_weights_path() is None
    (tmp_path / "best.th").touch()
    assert trainer.get_best_weights_path() == str(tmp_path / "best.th")
