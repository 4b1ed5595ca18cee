"""The tensors that sizes ask for are those that a biLM of these sizes has."""

from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io.training_archive import check_weights
from elmo_plugin.bilm.manylangs.folder import read_folder
from tests.bilm.manylangs.model_folder import ONLY_CHARACTERS, ONLY_WORDS, network, write_model
from tests.small_bilm import small_options


@pytest.mark.parametrize(
    ("char_cnn", "lstm"),
    [({}, {}), ({"n_highway": 0}, {"n_layers": 3}), ({"filters": [[2, 5]]}, {"projection_dim": 4, "dim": 9})],
)
def test_shapes_are_those_of_a_published_bilm(char_cnn: dict, lstm: dict) -> None:
    options = BiLmOptions.from_dict(small_options(char_cnn, lstm))
    check_weights(BiLm(options).state_dict(), options, "archive")


@pytest.mark.parametrize("config", [network(), ONLY_WORDS, ONLY_CHARACTERS])
def test_shapes_are_those_of_a_bilm_with_lexicons(config: dict[str, Any], tmp_path: Path) -> None:
    options, weights = read_folder(write_model(tmp_path / "model", config))
    check_weights(weights, options, "folder")


def test_weights_that_do_not_fit_are_named() -> None:
    options = BiLmOptions.from_dict(small_options())
    weights = BiLm(options).state_dict()
    name = "forward_lm.layers.0.bias"
    for changed, message in (
        ({key: weights[key] for key in weights if key != name}, f"the tensor {name} is missing"),
        ({**weights, name: torch.zeros(3)}, rf"the tensor {name} has the shape \(3,\)"),
        ({**weights, "more": torch.zeros(3)}, "unexpected tensor more"),
        ({**weights, name: weights[name] / 0}, f"the tensor {name} has .* in it"),
        ({**weights, name: "text"}, f"the tensor {name} is missing"),
    ):
        with pytest.raises(BiLmError, match=f"archive a: {message}"):
            check_weights(changed, options, "archive a")
