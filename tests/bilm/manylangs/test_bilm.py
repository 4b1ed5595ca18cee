"""Models of ELMoForManyLangs as biLMs: their activations, and all ways to run and to keep one."""

from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.io import write_files
from elmo_plugin.bilm.io.sources import read_checkpoint
from tests.bilm.manylangs.model_folder import (
    ONLY_CHARACTERS,
    ONLY_WORDS,
    SENTENCES,
    Recomputation,
    network,
    write_model,
)
from tests.bilm.paths import PATHS, ComputePath, take, with_marks
from tests.close import assert_near

NO_CLIPS = network(encoder={"cell_clip": None, "proj_clip": 0, "n_layers": 3})
TANH = network({"activation": "tanh", "n_highway": 1, "max_characters_per_token": 5})
KINDS = [None, ONLY_WORDS, ONLY_CHARACTERS, NO_CLIPS, TANH]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")


@pytest.mark.parametrize("config", KINDS, ids=["both", "words", "characters", "no clips", "tanh"])
def test_activations_equal_the_formulas(config: dict[str, Any] | None, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", config)
    recomputation = Recomputation(folder)
    bilm = BiLm.from_pretrained(str(folder))
    assert not bilm.training and not any(parameter.requires_grad for parameter in bilm.parameters())
    for sentence, layers in zip(SENTENCES, bilm.embed(SENTENCES), strict=True):
        assert_near(layers, recomputation.layers(sentence))


@pytest.mark.parametrize("path", with_marks(path for path in PATHS if path.precision == "float32"))
def test_every_recurrence_gives_the_same_layers(path: ComputePath, folder: Path) -> None:
    recomputation = Recomputation(folder)
    for sentence, layers in zip(
        SENTENCES, take(BiLm.from_pretrained(str(folder)), path).embed(SENTENCES), strict=True
    ):
        expected = recomputation.layers(sentence)
        assert_near(layers.cpu(), expected)


@pytest.mark.slow
def test_gradients_reach_all_weights(folder: Path) -> None:
    bilm = BiLm.from_pretrained(str(folder)).requires_grad_(True)
    slots = bilm.options.char_cnn.max_characters_per_token
    ids = torch.from_numpy(sentences_to_character_ids(SENTENCES, slots))
    layers = bilm(ids).layers
    for row, sentence in enumerate(SENTENCES):
        expected = Recomputation(folder).layers(sentence)
        assert_near(layers[:, row, : len(sentence)], expected)
    layers.square().sum().backward()
    for name, parameter in bilm.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), name


def test_words_with_another_models_number_of_characters_are_refused(folder: Path) -> None:
    with pytest.raises(
        BiLmError, match=r"expected the shape \(batch, time, 34\), got \(1, 1, 50\)"
    ):
        BiLm.from_pretrained(str(folder))(torch.from_numpy(sentences_to_character_ids([["dog"]])))


def test_a_stored_bilm_is_read_but_not_exported_to_the_published_layout(
    folder: Path, tmp_path: Path
) -> None:
    stored = read_checkpoint(str(folder))
    bilm = BiLm.from_pretrained(str(folder))
    assert stored.options == bilm.options and stored.softmax is None and stored.dtype == "float32"
    weights = dict(stored.weights)
    assert weights.keys() == bilm.state_dict().keys()
    assert all(torch.equal(weights[name], values) for name, values in bilm.state_dict().items())
    with pytest.raises(BiLmError, match="the published layout cannot hold the lexicons"):
        write_files(tmp_path / "written", stored._replace(weights=weights.items()))
    assert not any((tmp_path / "written").iterdir())
