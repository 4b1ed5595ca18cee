"""training_config/bilm_base.sh ends with the same weights after being killed and restarted."""

import gzip
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLm
from tests.conftest import BILM_SENTENCES, REPOSITORY
from tests.forked_allennlp import forked_allennlp
from tests.small_bilm import small_options

# Few words, so few negatives and streams; a checkpoint after each step. The first training has its own sizes.
OPTIONS = {
    "data_loader.batch_size": 4,
    "data_loader.unroll_steps": 5,
    "data_loader.num_workers": 0,
    "model.num_negatives": 5,
    "trainer.checkpointer.save_every_num_batches": 1,
}
SIZES = {"model.options": small_options()}
JSONNET = f"{json.dumps(OPTIONS)} + if std.extVar('BILM_INITIAL') == '' then {json.dumps(SIZES)} else {{}}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for folder in ("lm", "lm2"):
        (tmp_path / folder).mkdir()
        for number in ("00", "06"):
            with gzip.open(tmp_path / folder / f"train-{number}.txt.gz", "wt", encoding="utf-8") as file:
                file.write("\n".join(BILM_SENTENCES))
    (tmp_path / "lm" / "heldout-dev.txt").write_text("\n".join(BILM_SENTENCES), encoding="utf-8")
    return tmp_path


@pytest.fixture
def _quick_allennlp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Spares several processes the imports."""
    with forked_allennlp(tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        yield


def start(data: Path, runs: Path) -> subprocess.Popen:
    with open(data / f"{runs.name}.log", "a") as log:
        return subprocess.Popen(
            ["training_config/bilm_base.sh", data, runs, JSONNET],
            cwd=REPOSITORY,
            stdout=log,
            stderr=log,
            preexec_fn=os.setpgrp,
        )


def kill_after_a_new_checkpoint(script: subprocess.Popen, training: Path) -> None:
    def checkpoints() -> set[Path]:
        return set(training.glob("model_state_e*_b[1-9]*.th"))

    before = checkpoints()
    while not checkpoints() - before:
        assert script.poll() is None, "the script has come to its end"
        time.sleep(0.005)
    os.killpg(script.pid, signal.SIGKILL)
    script.wait()


def end(script: subprocess.Popen, data: Path, runs: Path) -> dict[str, bytes]:
    """Waits for the end of the script; returns what must not depend on kills."""
    assert script.wait() == 0, (data / f"{runs.name}.log").read_text()[-3000:]
    weights = BiLm.from_files(runs / "base" / "options.json", runs / "base" / "weights.hdf5").state_dict()
    return {name: weight.numpy().tobytes() for name, weight in weights.items() if hasattr(weight, "numpy")}


@pytest.mark.slow
@pytest.mark.usefixtures("_quick_allennlp")
def test_it_ends_with_the_same_weights_if_it_is_killed_and_started_again(data: Path) -> None:
    whole, killed = data / "whole", data / "killed"
    expected = end(start(data, whole), data, whole)
    for training in ("first", "first", "second", "second", "third_a", "third_b"):
        kill_after_a_new_checkpoint(start(data, killed), killed / training)
        assert not (killed / training / "model.tar.gz").exists()
    assert end(start(data, killed), data, killed) == expected
