from pathlib import Path

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.characters import sentences_to_character_ids
from tests.bilm.manylangs.model_folder import (
    ONLY_CHARACTERS,
    ONLY_WORDS,
    SENTENCES,
    Recomputation,
    network,
    write_model,
)
from tests.close import assert_near

TYPES = list(dict.fromkeys(word for sentence in SENTENCES for word in sentence))
TANH = network({"activation": "tanh", "n_highway": 1, "max_characters_per_token": 5})
KINDS = {"both": None, "only words": ONLY_WORDS, "only characters": ONLY_CHARACTERS, "tanh": TANH}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")


@pytest.fixture(scope="module")
def bilm(tmp_path_factory: pytest.TempPathFactory) -> BiLm:
    return BiLm.from_pretrained(str(write_model(tmp_path_factory.mktemp("models") / "both")))


def ids_of(bilm: BiLm, words: list[str]) -> Tensor:
    slots = bilm.options.char_cnn.max_characters_per_token
    return torch.from_numpy(sentences_to_character_ids([words], slots))[0]


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_each_word_has_the_vector_of_the_formulas(kind: str, frozen: bool, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", KINDS[kind])
    bilm, recomputation = BiLm.from_pretrained(str(folder)).requires_grad_(not frozen), Recomputation(folder)
    limit = recomputation.sizes["max_characters_per_token"] - 2
    expected = torch.stack([recomputation.token_vector(word[:limit]) for word in TYPES])
    vectors = bilm.token_encoder(ids_of(bilm, TYPES))
    assert_near(vectors, expected)
    assert vectors.requires_grad != frozen
