"""Small biLMs for the tests of this folder."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmOptions

BiLmMaker = Callable[..., BiLm]


def small_options(
    char_cnn: dict[str, Any] | None = None, lstm: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Options of a biLM that takes milliseconds, in the layout of `options.json`."""
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


@pytest.fixture
def make_bilm() -> BiLmMaker:
    """Makes a random biLM, with weights and biases large enough that every part of it matters."""

    def make(char_cnn: dict[str, Any] | None = None, lstm: dict[str, Any] | None = None) -> BiLm:
        torch.manual_seed(5)
        bilm = BiLm(BiLmOptions.from_dict(small_options(char_cnn, lstm))).eval()
        with torch.no_grad():
            for name, parameter in bilm.named_parameters():
                parameter.mul_(2.0)
                if name.endswith("bias"):
                    parameter.add_(torch.randn_like(parameter))
        return bilm

    return make
