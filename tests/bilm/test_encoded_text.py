"""An encoded text finds the vectors of its words, and says what other libraries' names are here."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLmError, EncodedText
from elmo_plugin.common.meanings import meanings
from tests.small_bilm import loud_bilm

WORDS = ["The", "bank", "by", "the", "other", "bank", "is", "n't", "old"]


def encoded(words: list[str], *, num_layers: int = 0, seed: int = 0) -> EncodedText[torch.Tensor]:
    shape = (num_layers, len(words), 4) if num_layers else (len(words), 4)
    vectors = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return EncodedText(words, None, vectors)


@given(st.lists(st.sampled_from("abcde"), min_size=1), st.sampled_from([0, 3]))
def test_found_vectors_are_the_rows_of_the_word(words: list[str], num_layers: int) -> None:
    text = encoded(words, num_layers=num_layers)
    for word in set(words):
        rows = [text.vectors[..., row, :] for row in range(len(words)) if words[row] == word]
        assert torch.equal(text.find(word), torch.stack(rows, dim=-2))
        if len(rows) == 1:
            assert torch.equal(text[word], rows[0])
        else:
            with pytest.raises(BiLmError, match=f"is in the text {len(rows)} times"):
                text[word]


@pytest.mark.parametrize("num_layers", [0, 3])
def test_positions_count_from_the_first_word_and_from_the_end(num_layers: int) -> None:
    text = encoded(WORDS, num_layers=num_layers)
    for position in range(-len(WORDS), len(WORDS)):
        assert torch.equal(text[position], text.vectors[..., position, :])
    with pytest.raises(IndexError, match="position 9: the text has 9 words, and the first is 0"):
        text[9]


def test_a_text_is_a_sequence_of_its_vectors_that_contains_its_words() -> None:
    text = encoded(WORDS)
    assert len(text) == 9 and "old" in text and "Old" not in text and 3 not in text
    assert torch.equal(torch.stack(list(text)), text.vectors)
    assert np.array_equal(np.asarray(text), text.vectors.numpy())
    all_layers = encoded(WORDS, num_layers=3)
    assert np.asarray(all_layers).shape == (3, 9, 4)
    assert np.asarray(all_layers, dtype="float64").dtype == np.float64


def test_a_typographic_word_is_found_as_the_bilm_reads_it() -> None:
    text = encoded(WORDS)
    assert torch.equal(text["n’t"], text[7])  # noqa: RUF001


def test_a_missing_word_names_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"'bnak' is not one of the words in .* did you mean 'bank'"):
        encoded(WORDS)["bnak"]
    with pytest.raises(KeyError, match=r"not one of the words in text\.words\"$"):
        encoded(WORDS).find("xylophone")


def test_arrays_are_found_as_tensors_are() -> None:
    tensors = loud_bilm().encode("The play ended.")
    arrays = loud_bilm().encode("The play ended.", output="numpy")
    assert isinstance(arrays["play"], np.ndarray)
    np.testing.assert_allclose(arrays["play"], tensors["play"].numpy(), rtol=1e-6)


def test_copies_of_a_text_are_whole() -> None:
    text = encoded(WORDS)
    for other in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert other.words == WORDS and torch.equal(other.vectors, text.vectors)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("shape", "write text.vectors.shape"),
        ("tokens", "write text.words"),
        ("numpy", "write text.vectors.numpy()"),
        ("xyz", "no attribute 'xyz'"),
    ],
)
def test_other_names_lead_to_ours(name: str, advice: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(encoded(WORDS), name)
    assert advice in str(raised.value)


def test_what_the_table_says_to_write_works() -> None:
    text: Any = encoded(WORDS, num_layers=3)
    environment = {"text": text, "word": "bank", "layer": 1}
    for target, names in meanings()["attributes of EncodedText"].items():
        for part in target.split(", "):
            expression = part.removeprefix("or ").removeprefix("and ")
            if expression.startswith("text."):
                eval(expression, dict(environment))
        assert not any(hasattr(text, name) for name in names.split())
