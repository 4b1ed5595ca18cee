"""A small biLM whose activations are large enough to tell right from wrong."""

from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.weights import write_weights

OPTIONS = {
    "lstm": {
        "use_skip_connections": True,
        "projection_dim": 5,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 7,
        "n_layers": 2,
    },
    "char_cnn": {
        "activation": "relu",
        "filters": [[1, 4], [3, 8]],
        "n_highway": 1,
        "embedding": {"dim": 4},
        "n_characters": 262,
        "max_characters_per_token": 50,
    },
}


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
