"""A training of any model that is killed and continued ends with the same bytes as an undisturbed
one.
"""

import hashlib
import json
import os
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import train as train_command
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training import Checkpointer, Trainer
from allennlp.training.metric_tracker import MetricTracker

import elmo_plugin.hardening
import elmo_plugin.plugin  # noqa: F401
from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.training import AtomicCheckpointer, ResumableTrainer
from elmo_plugin.training.resumable import KEY
from tests.conftest import REPOSITORY
from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import tagger_config, train
from tests.training.kills import KILLED, exit_at, exit_code, no_wait

PACKAGE = REPOSITORY / "elmo_plugin"


class Stopped(Exception):
    pass


def stop_at(batch: int, patch: pytest.MonkeyPatch) -> None:
    """Ends trainings with `Stopped` at the batch of this number."""
    batches, rescale = count(), ResumableTrainer.rescale_gradients

    def stopping(self: ResumableTrainer) -> float | None:
        if next(batches) == batch:
            raise Stopped
        return rescale(self)

    patch.setattr(ResumableTrainer, "rescale_gradients", stopping)


def test_data_without_instances_are_an_error(tmp_path: Path) -> None:
    config = tagger_config("tiny", placements=())
    config["dataset_reader"]["token_indexers"] = {"tokens": {"type": "single_id"}}
    train(config, tmp_path / "run")
    config["model"] = {
        "type": "from_archive",
        "archive_file": str(tmp_path / "run" / "model.tar.gz"),
    }
    config["dataset_reader"]["max_instances"] = 0
    del config["validation_data_path"]
    with pytest.raises(ConfigurationError, match="the training data have no instances"):
        train(config, tmp_path / "empty")


@pytest.mark.parametrize("steps", [2, pytest.param(None, marks=pytest.mark.slow)])
def test_a_resumed_training_ends_with_the_same_bytes(
    steps: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_wait)
    config = tagger_config(str(write_training(tmp_path / "bilm", random_bilm())), dropout=0.5)
    config["data_loader"]["shuffle"] = True
    config["trainer"] |= {
        "num_epochs": 4,
        "cuda_device": -1,
        "checkpointer": {"save_every_num_batches": steps},
        "moving_average": {"type": "exponential", "decay": 0.5},
    }
    names = ("best.th", "model_state_e4_b0.th")
    train(config, tmp_path / "whole")
    expected = [(tmp_path / "whole" / name).read_bytes() for name in names]
    for batch in (0, 4, 7):
        folder = tmp_path / str(batch)
        with monkeypatch.context() as patch, pytest.raises(Stopped):
            stop_at(batch, patch)
            train(config, folder)
        train(config, folder, recover=True)
        assert [(folder / name).read_bytes() for name in names] == expected, (
            f"stopped at batch {batch}"
        )


def test_epochs_without_validation_are_the_same_after_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_wait)
    config = tagger_config("tiny", placements=())
    del config["dataset_reader"]["token_indexers"]["elmo"]
    config["validation_data_loader"] = {"batch_size": 2, "shuffle": True}
    config["trainer"] |= {
        "num_epochs": 3,
        "cuda_device": -1,
        "checkpointer": {"save_every_num_batches": 1},
        "callbacks": [{"type": "should_validate_callback", "validation_interval": 2}],
    }

    def result(folder: Path) -> tuple[Any, bytes]:
        """Returns the results of all validations, and the best model."""
        last_state = load_plain(folder / "training_state_e3_b0.th", name="the last state")
        return last_state["metric_tracker"], (folder / "best.th").read_bytes()

    train(config, tmp_path / "whole")
    expected = result(tmp_path / "whole")
    for batch in (2, 3, 5):  # an epoch has two batches
        folder = tmp_path / str(batch)
        with monkeypatch.context() as patch, pytest.raises(Stopped):
            stop_at(batch, patch)
            train(config, folder)
        train(config, folder, recover=True)
        assert result(folder) == expected, f"stopped at batch {batch}"
    train(config, tmp_path / "whole", recover=True)  # after the last epoch
    assert result(tmp_path / "whole") == expected


def test_a_checkpoint_that_does_not_say_which_epochs_are_validated_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier versions wrote such checkpoints. All of their epochs were validated."""
    monkeypatch.setattr(os, "fsync", no_wait)
    config = tagger_config("tiny", placements=())
    del config["dataset_reader"]["token_indexers"]["elmo"]
    config["trainer"] |= {
        "num_epochs": 3,
        "cuda_device": -1,
        "checkpointer": {"save_every_num_batches": 1},
    }
    names = ("best.th", "model_state_e3_b0.th")
    train(config, tmp_path / "whole")
    expected = [(tmp_path / "whole" / name).read_bytes() for name in names]
    folder = tmp_path / "stopped"
    with monkeypatch.context() as patch, pytest.raises(Stopped):
        stop_at(3, patch)  # in the second epoch
        train(config, folder)
    states = list(folder.glob("training_state_*.th"))
    assert states
    for file in states:
        state = load_plain(file, name="a state")
        for process_state in state[KEY]["processes"]:
            del process_state["validates_epochs"]
        save_tensors(state, file)
    train(config, folder, recover=True)
    assert [(folder / name).read_bytes() for name in names] == expected


def test_a_checkpoint_of_an_early_version_is_resumed_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_wait)
    config = tagger_config("tiny", placements=())
    del config["dataset_reader"]["token_indexers"]["elmo"]
    config["trainer"] |= {"num_epochs": 2, "cuda_device": -1}
    with monkeypatch.context() as patch, pytest.raises(Stopped):
        stop_at(3, patch)  # in the second epoch
        train(config, tmp_path)
    (file,) = tmp_path.glob("training_state_*.th")
    state = load_plain(file, name="a state")
    for process_state in state[KEY]["processes"]:
        del process_state["epoch_starts"], process_state["validates_epochs"]
    save_tensors(state, file)
    train(config, tmp_path, recover=True)
    assert "an early version" in (tmp_path / "out.log").read_text()
    assert (tmp_path / "model_state_e2_b0.th").exists()


@pytest.mark.parametrize("content", [b"PK", None])
def test_a_damaged_model_of_an_earlier_epoch_stops_the_resume(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_wait)
    config = tagger_config("tiny", placements=())  # ELMo would have read it before
    del config["dataset_reader"]["token_indexers"]["elmo"]
    config["trainer"] |= {"num_epochs": 3, "cuda_device": -1}
    train(config, tmp_path / "run")
    best = tmp_path / "run" / "best.th"
    best.unlink()
    if content is not None:
        best.write_bytes(content)
    monkeypatch.setattr(MetricTracker, "is_best_so_far", lambda self: False)
    with pytest.raises(BiLmError, match=r"best\.th: (file not found|its weights are)"):
        train(config, tmp_path / "run", recover=True)


def test_configurations_without_types_are_resumed() -> None:
    assert Trainer.resolve_class_name(Trainer.list_available()[0])[0] is ResumableTrainer
    assert isinstance(
        Checkpointer.from_params(Params({}), serialization_dir="."), AtomicCheckpointer
    )


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The project of `elmo new ner`, with the smallest biLM."""
    project = tmp_path / "project"
    shutil.copytree(PACKAGE / "projects" / "ner", project)
    shutil.copytree(PACKAGE / "jsonnet", project / "lib")
    monkeypatch.chdir(project)
    config = Params.from_file("config.jsonnet").as_dict(quiet=True)
    config["model"]["contextual_encoder"]["elmo"]["bilm"] = "tiny"
    config["data_loader"]["batch_sampler"]["batch_size"] = 2
    config["trainer"] |= {"num_epochs": 3, "validation_metric": "-loss", "cuda_device": -1}
    return config


def train_and_exit_at(
    event: int | None, config: dict[str, Any], folder: Path, recover: bool
) -> None:
    exit_at(event)
    train_command.train_model(Params(json.loads(json.dumps(config))), str(folder), recover=recover)


def files(
    config: dict[str, Any], folder: Path, event: int | None = None, recover: bool = False
) -> Any:
    """
    Trains in a process of its own. Returns the digests of its last files, or `None` if it was
    killed.
    """
    if (code := exit_code(train_and_exit_at, event, config, folder, recover)) == KILLED:
        return None
    assert code == 0 and (folder / "model.tar.gz").exists() and not list(folder.glob(".*"))
    names = ("best.th", "model_state_e2_b0.th", "model_state_e3_b0.th")
    return [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]


@pytest.mark.slow
def test_a_training_killed_while_writing_its_configuration_restarts(
    config: dict[str, Any], tmp_path: Path
) -> None:
    expected = files(config, tmp_path / "whole")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "config.json").write_text('{"data')
    assert files(config, tmp_path / "cut", recover=True) == expected


@pytest.mark.slow
def test_a_project_that_is_killed_while_it_writes_ends_with_the_same_bytes(
    config: dict[str, Any], tmp_path: Path
) -> None:
    expected = files(config, tmp_path / "whole")
    for event in count(2, 5):
        folder = tmp_path / str(event)
        if files(config, folder, event) is not None:
            break
        assert files(config, folder, recover=True) == expected, f"killed at event {event}"
    assert event > 15
