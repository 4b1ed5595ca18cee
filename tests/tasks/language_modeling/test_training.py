"""`allennlp train` from a configuration to an archive, and what is left of its settings."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.models import load_archive

from elmo_plugin.bilm import BiLm
from elmo_plugin.tasks.language_modeling import MatmulPrecision


def test_a_bilm_is_trained_and_found_again_in_its_archive(
    bilm_config: dict[str, Any], tmp_path: Path
) -> None:
    model = train_model(Params(bilm_config), serialization_dir=tmp_path / "run")
    loaded = load_archive(tmp_path / "run" / "model.tar.gz").model
    for source in ("run/model.tar.gz", "run"):
        bilm = BiLm.from_archive(tmp_path / source)
        for name, tensor in model.bilm.state_dict().items():
            assert torch.equal(bilm.state_dict()[name], tensor)
            assert torch.equal(loaded.bilm.state_dict()[name], tensor)
    assert torch.get_float32_matmul_precision() == "highest", "the precision is as it was before training"


def test_training_lowers_the_perplexity(bilm_config: dict[str, Any], tmp_path: Path) -> None:
    bilm_config["trainer"]["num_epochs"] = 12
    train_model(Params(bilm_config), serialization_dir=tmp_path / "run")
    first, best = (
        Params.from_file(tmp_path / "run" / name) for name in ("metrics_epoch_0.json", "metrics.json")
    )
    assert best["best_validation_perplexity"] < 0.8 * first["validation_perplexity"]


def test_an_unknown_precision_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"matmul_precision must be one of .* not 'low'"):
        MatmulPrecision(str(tmp_path), "low")


def test_the_bundled_models_configuration_has_the_options_of_the_bundled_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("BILM_TRAIN_DATA_PATH", "BILM_VALIDATION_DATA_PATH"):
        monkeypatch.setenv(name, "text.txt")
    repository = Path(__file__).parents[3]
    params = Params.from_file(repository / "training_config" / "bilm_tiny.jsonnet")
    options = params["model"]["options"].as_dict()
    assert options == BiLm.pretrained("tiny").options.to_dict()
