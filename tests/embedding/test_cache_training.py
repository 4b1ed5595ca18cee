"""Trainings whose ELMo has a cache compute each sentence once, and their archives need no cache."""

import gc
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import Model

from elmo_plugin.archives import load_archive
from tests.embedding.test_archive import predictions
from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import tagger_config, train


@pytest.fixture
def bilm(tmp_path: Path) -> str:
    return str(write_training(tmp_path / "bilm", random_bilm()))


def cached_config(bilm: str, folder: Path, **options: Any) -> dict[str, Any]:
    return tagger_config(bilm, cache={"type": "sqlite", "path": str(folder / "cache")}, **options)


def assert_same_predictions(model: Model, expected: list[dict[str, Any]]) -> None:
    scores, *tags = predictions(model)
    torch.testing.assert_close(torch.tensor(scores["scores"]), torch.tensor(expected[0]["scores"]))
    assert tags == expected[1:]


@pytest.mark.slow
def test_an_archive_predicts_without_its_cache(bilm: str, tmp_path: Path) -> None:
    expected = predictions(train(cached_config(bilm, tmp_path), tmp_path / "run"))
    gc.collect()  # closes the file
    shutil.rmtree(tmp_path / "cache")
    Path(bilm).unlink()
    assert_same_predictions(load_archive(tmp_path / "run" / "model.tar.gz").model, expected)
    assert not list(tmp_path.rglob("*cache*"))
