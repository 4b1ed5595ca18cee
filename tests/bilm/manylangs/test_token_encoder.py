import copy
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.bilm import BiLm, token_encoder
from elmo_plugin.bilm.characters import sentences_to_character_ids
from tests.bilm.manylangs.model_folder import (
    CHARACTERS,
    ONLY_CHARACTERS,
    ONLY_WORDS,
    SENTENCES,
    Recomputation,
    network,
    write_model,
)
from tests.close import assert_near

LETTERS = [character for character in (*CHARACTERS, "x") if len(character) == 1]
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


@settings(max_examples=10)
@given(st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=8), st.integers(1, 5))
def test_a_word_has_the_same_vector_in_any_company(bilm: BiLm, words: list[str], size: int) -> None:
    ids = ids_of(bilm, words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_encoder, "WORDS_AT_A_TIME_ON_CPU", size)
        together = bilm.token_encoder.encode_words(ids)
    for row, vector in zip(ids, together, strict=True):
        alone = bilm.token_encoder.encode_words(row[None])[0]
        assert_near(alone, vector)


def test_no_words_have_no_vectors(bilm: BiLm) -> None:
    assert bilm.token_encoder(ids_of(bilm, TYPES)[:0]).shape == (0, 6)


def test_a_copy_has_the_lexicons(bilm: BiLm) -> None:
    ids = ids_of(bilm, TYPES)
    assert torch.equal(copy.deepcopy(bilm).token_encoder(ids), bilm.token_encoder(ids))
