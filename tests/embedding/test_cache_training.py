"""Trainings whose ELMo has a cache compute each sentence once, and their archives need no cache."""

import gc
import json
import multiprocessing
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import Model
from torch import Tensor

from elmo_plugin.archives import load_archive
from elmo_plugin.bilm import BiLm, BiLmOutput
from tests.commands.run import run
from tests.embedding.test_archive import predictions
from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import SENTENCES, tagger_config, train


@pytest.fixture
def bilm(tmp_path: Path) -> str:
    return str(write_training(tmp_path / "bilm", random_bilm()))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often biLMs have read each sentence."""
    counts: Counter[bytes] = Counter()
    forward = BiLm.forward

    def counting(self: BiLm, character_ids: Tensor, *args: Any, **kwargs: Any) -> BiLmOutput:
        counts.update(row.numpy().tobytes().rstrip(b"\0") for row in character_ids.short())
        return forward(self, character_ids, *args, **kwargs)

    monkeypatch.setattr(BiLm, "forward", counting)
    return counts


def cached_config(bilm: str, folder: Path, **options: Any) -> dict[str, Any]:
    return tagger_config(bilm, cache={"type": "sqlite", "path": str(folder / "cache")}, **options)


def train_and_count(config: dict[str, Any], folder: Path, read: Counter[bytes], counts: Any) -> None:
    torch.set_num_threads(1)
    read.clear()
    train(config, folder)
    counts.put(sum(read.values()))


@pytest.mark.slow
def test_all_trainings_of_a_sweep_compute_each_sentence_once(
    bilm: str, tmp_path: Path, read: Counter[bytes]
) -> None:
    files = []
    for name, options in {"all": {}, "top": {"layers": "top", "layer_norm": True}}.items():
        files.append(str(tmp_path / f"{name}.json"))
        Path(files[-1]).write_text(json.dumps(cached_config(bilm, tmp_path, **options)))
    run("sweep", *files, "-s", tmp_path / "runs", "--seeds", 1, "--metric=-loss")
    blocks = {block for block in SENTENCES.read_text().strip().split("\n\n") if "-DOCSTART-" not in block}
    assert len(read) == len(blocks) and set(read.values()) == {1}

    fork = multiprocessing.get_context("fork")
    counts = fork.SimpleQueue()
    arguments = (cached_config(bilm, tmp_path), tmp_path / "process", read, counts)
    process = fork.Process(target=train_and_count, args=arguments)
    process.start()
    process.join()
    assert counts.get() == 0, "and none in another process"


def assert_same_predictions(model: Model, expected: list[dict[str, Any]]) -> None:
    scores, *tags = predictions(model)
    torch.testing.assert_close(torch.tensor(scores["scores"]), torch.tensor(expected[0]["scores"]))
    assert tags == expected[1:]


def test_an_archive_predicts_without_its_cache(bilm: str, tmp_path: Path) -> None:
    expected = predictions(train(cached_config(bilm, tmp_path), tmp_path / "run"))
    gc.collect()  # closes the file
    shutil.rmtree(tmp_path / "cache")
    Path(bilm).unlink()
    assert_same_predictions(load_archive(tmp_path / "run" / "model.tar.gz").model, expected)
    assert not list(tmp_path.rglob("*cache*"))
