"""Trained models that the tests of several commands read."""

import shutil
from pathlib import Path

import pytest

from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import tagger_config, train


@pytest.fixture(scope="session")
def tagger_archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """
    Returns the archives of two taggers that differ by their seeds and by one placement: the first
    has ELMo at the input, the second at both sides. Their biLM and their word vectors are deleted.
    """
    folder = tmp_path_factory.mktemp("taggers")
    bilm = str(write_training(folder / "bilm", random_bilm()))
    (folder / "words.txt").write_text("Ada 1 2 3\nLondon 3 2 1\n")
    for seed, placements in enumerate([["input"], ["input", "output"]]):
        config = tagger_config(bilm, placements) | {"pytorch_seed": seed}
        embedders = config["model"]["contextual_encoder"]["text_field_embedder"]["token_embedders"]
        embedders["tokens"]["pretrained_file"] = str(folder / "words.txt")
        train(config, folder / f"tagger_{seed}")
    shutil.rmtree(folder / "bilm")
    (folder / "words.txt").unlink()
    return [folder / f"tagger_{seed}" / "model.tar.gz" for seed in range(2)]
