"""A biLM that takes milliseconds: its options, random weights, and its files."""

from pathlib import Path
from typing import Any

import torch

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.io.hdf5_weights import write_weights


def small_options(
    char_cnn: dict[str, Any] | None = None, lstm: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Options in the layout of `options.json`, with the given changes."""
    return {
        "lstm": {
            "projection_dim": 6,
            "dim": 10,
            "n_layers": 2,
            "use_skip_connections": True,
            "cell_clip": 3,
            "proj_clip": 3,
            **(lstm or {}),
        },
        "char_cnn": {
            "activation": "relu",
            "filters": [[1, 4], [2, 6], [4, 8]],
            "n_highway": 1,
            "embedding": {"dim": 5},
            "n_characters": 262,
            "max_characters_per_token": 50,
            **(char_cnn or {}),
        },
    }


def loud_bilm(seed: int = 0, deviation: float = 0.5, **changes: Any) -> BiLm:
    """Of `small_options(**changes)`, with vectors large enough to tell right from wrong."""
    torch.manual_seed(seed)
    bilm = BiLm(BiLmOptions.from_dict(small_options(**changes)))
    with torch.no_grad():
        for parameter in bilm.parameters():
            parameter.normal_(std=deviation)
        bilm.token_encoder.character_embedding.weight[0] = 0
    return bilm


def write_pair(bilm: BiLm, folder: Path) -> dict[str, str]:
    """
    Writes the biLM in the published layout; gives the paths, as `BiLm.from_pretrained` takes them.
    """
    files = {"options": str(folder / "options.json"), "weights": str(folder / "weights.hdf5")}
    bilm.options.to_file(files["options"])
    write_weights(files["weights"], bilm.state_dict(), bilm.options)
    return files
