"""Models of ELMoForManyLangs in AllenNLP: in a task's model and its archive, trained on, and not
exported.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import elmo_plugin.plugin  # noqa: F401 (registers the command)
from elmo_plugin.bilm import BiLm, BiLmError
from tests.bilm.manylangs.model_folder import write_model
from tests.embedding.test_archive import (
    assert_same_predictions,
    predictions,
    predictions_of_archive,
)
from tests.trained_tagger import tagger_config, train

SLOTS = 4 * (10 - 2) + 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")


def config_of(folder: Path, slots: int = SLOTS, **options: Any) -> dict[str, Any]:
    config = tagger_config(str(folder), **options)
    config["dataset_reader"]["token_indexers"]["elmo"]["max_characters_per_token"] = slots
    return config


@pytest.mark.slow
@pytest.mark.parametrize("requires_grad", [False, True])
def test_an_archive_predicts_the_same_without_the_folder(
    requires_grad: bool, folder: Path, tmp_path: Path
) -> None:
    config = config_of(folder, requires_grad=requires_grad)
    before = BiLm.from_pretrained(str(folder)).state_dict()
    model = train(config, tmp_path / "run")
    bilm = model.contextual_encoder.elmo.bilm
    assert requires_grad != all(
        torch.equal(values, before[name]) for name, values in bilm.state_dict().items()
    )
    expected = predictions(model, config)
    shutil.rmtree(folder)
    assert_same_predictions(
        predictions_of_archive(tmp_path / "run" / "model.tar.gz", config), expected
    )


def test_an_indexer_with_the_wrong_word_length_is_told_the_right_one(
    folder: Path, tmp_path: Path
) -> None:
    message = (
        f"the shape .*{SLOTS}.*, got .*50.*; a token indexer needs max_characters_per_token {SLOTS}"
    )
    with pytest.raises(BiLmError, match=message):
        train(config_of(folder, slots=50), tmp_path / "run")
