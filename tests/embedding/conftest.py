"""A small biLM whose activations are large enough to tell right from wrong."""

from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.weights import write_weights
from tests.small_bilm import small_options

OPTIONS = small_options(lstm={"projection_dim": 5, "dim": 7})


@pytest.fixture
def bilm() -> BiLm:
    torch.manual_seed(0)
    model = BiLm(BiLmOptions.from_dict(OPTIONS))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
        model.token_encoder.character_embedding.weight[0] = 0
    return model


@pytest.fixture
def bilm_files(bilm: BiLm, tmp_path: Path) -> dict[str, str]:
    """The small biLM in the published layout."""
    files = {"options": str(tmp_path / "options.json"), "weights": str(tmp_path / "weights.hdf5")}
    bilm.options.to_file(files["options"])
    write_weights(files["weights"], bilm.state_dict(), bilm.options)
    return files
