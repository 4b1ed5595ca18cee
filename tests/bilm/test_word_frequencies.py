"""The pooling "sif" weighs words by how rare they are: Arora et al. (2017)."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.word_frequencies import (
    COUNTS_NAME,
    TABLE,
    inverse_frequency_weights,
    word_probability,
)
from elmo_plugin.common.bundled import BUNDLED
from tests.close import assert_near

BASE_TOKENS = 58_650_619
"""The words that `base` was trained on, by its card."""


@pytest.fixture(scope="module")
def counted() -> dict[str, int]:
    """Each word of the table and its count, read without the keys."""
    table = load_file(BUNDLED / "words/english/vectors.safetensors")
    words = bytes(table["words"].tolist()).decode().split("\n")
    return dict(zip(words, load_file(TABLE / COUNTS_NAME)["counts"].tolist(), strict=True))


def test_the_counts_are_those_of_the_text_of_base(counted: dict[str, int]) -> None:
    assert int(load_file(TABLE / COUNTS_NAME)["total"]) == BASE_TOKENS
    assert f"{BASE_TOKENS:,}" in (BUNDLED / "bilm/base/README.md").read_text(encoding="utf-8")
    counts = list(counted.values())
    assert counts == sorted(counts, reverse=True)  # the table has its words by frequency
    assert sum(counts) < BASE_TOKENS and min(counts) >= 3


@given(st.data())
def test_a_words_probability_is_its_share_of_the_text(
    counted: dict[str, int], data: st.DataObject
) -> None:
    word = data.draw(st.sampled_from(sorted(counted)))
    assert word_probability(word) == counted[word] / BASE_TOKENS


def test_a_word_in_another_case_has_its_lower_cases_probability_and_a_new_word_none(
    counted: dict[str, int],
) -> None:
    assert "ZEBRA" not in counted
    assert word_probability("ZEBRA") == counted["zebra"] / BASE_TOKENS
    assert word_probability("xqzzy") == 0


def test_rare_words_weigh_more_than_frequent_ones() -> None:
    weights = inverse_frequency_weights(["the", "play", "zebra", "xqzzy"]).tolist()
    assert weights == sorted(weights) and weights[-1] == 1 and weights[0] < 0.03


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize("layers", [None, "mean", "all"])
def test_a_text_is_the_mean_of_its_weighted_words(
    counted: dict[str, int], layers: Any, output: Any
) -> None:
    """Compares with formula (5) of the paper, word by word."""
    bilm = BiLm.from_pretrained("tiny")
    texts = ["The zebra slept in the shade.", "xqzzy", ""]
    found = bilm.encode(texts, pooling="sif", layers=layers, output=output)
    for row, text in enumerate(bilm.encode(texts, layers=layers or "token", output="numpy")):
        expected = np.zeros_like(np.asarray(found[row]))
        for position, word in enumerate(text.words):
            share = counted.get(word, counted.get(word.lower(), 0)) / BASE_TOKENS
            expected += 1e-3 / (1e-3 + share) * text[position] / len(text.words)
        assert_near(torch.as_tensor(found[row]), torch.as_tensor(expected))


def test_a_texts_vector_does_not_depend_on_other_texts() -> None:
    bilm = BiLm.from_pretrained("tiny")
    alone = bilm.encode("The zebra slept.", pooling="sif")
    together = bilm.encode(["The zebra slept.", "A bank raised its rates."], pooling="sif")
    assert_near(together[0], alone)


def test_other_languages_are_refused() -> None:
    with pytest.raises(BiLmError, match="knows how often English words occur, not those of 'de'"):
        BiLm.from_pretrained("tiny").encode("Das Spiel", pooling="sif", language="de")
