"""What a biLM gives for words, and what other libraries store of it."""

import copy
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.integrations.word_vectors import WordVectors
from tests.small_bilm import loud_bilm, write_pair

INF = float("inf")
SENTENCES = [["The", "play", "ended", "."], [], ["Hello"]]


@pytest.fixture
def layers(pair: dict[str, str]) -> list[np.ndarray]:
    bilm = BiLm.from_files(pair["options"], pair["weights"])
    return [each.double().numpy() for each in bilm.embed(SENTENCES)]


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({}, [1 / 3, 1 / 3, 1 / 3]),
        ({"mixing_weights": [1, 0, 3]}, [0.25, 0, 0.75]),
        ({"mixing_weights": np.array([1, 0, 3])}, [0.25, 0, 0.75]),
        ({"layers": "token"}, [1, 0, 0]),
        ({"layers": 1}, [0, 1, 0]),
        ({"layers": "top"}, [0, 0, 1]),
    ],
    ids=str,
)
def test_a_word_has_the_weighted_mean_of_its_layers(
    options: dict[str, Any], weights: list[float], pair: dict[str, str], layers: list[np.ndarray]
) -> None:
    for actual, of_sentence in zip(WordVectors(pair, **options).embed(SENTENCES), layers, strict=True):
        expected = sum(weight * layer for weight, layer in zip(weights, of_sentence, strict=True))
        np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_a_digest_tells_biLMs_and_settings_apart(pair: dict[str, str], tmp_path: Path) -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"layers": "top"},
        {"layers": "all"},
        {"mixing_weights": [1, 0, 3]},
        {"precision": "bfloat16"},
    ]
    digests = {WordVectors(pair, **each).digest() for each in settings}
    (tmp_path / "copy").mkdir()
    assert WordVectors(write_pair(loud_bilm(), tmp_path / "copy")).digest() in digests
    assert WordVectors(pair).from_bytes(WordVectors(pair).to_bytes()).digest() in digests
    write_pair(loud_bilm(1), tmp_path)
    digests |= {WordVectors(pair, **each).digest() for each in settings}
    assert len(digests) == 2 * len(settings)


def test_all_layers_are_given_by_themselves(pair: dict[str, str], layers: list[np.ndarray]) -> None:
    for actual, expected in zip(WordVectors(pair, "all").embed(SENTENCES), layers, strict=True):
        assert actual.dtype == np.float32
        np.testing.assert_allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_embed_the_same(way: Any, pair: dict[str, str]) -> None:
    original = WordVectors(pair)
    (expected, *_) = original.embed(SENTENCES)
    np.testing.assert_array_equal(way(original).embed(SENTENCES)[0], expected)


def test_what_is_stored_needs_no_other_file(pair: dict[str, str]) -> None:
    stored = WordVectors(pair)
    content, (expected, *_) = stored.to_bytes(), stored.embed(SENTENCES)
    for file in pair.values():
        Path(file).unlink()
    again = WordVectors(pair).from_bytes(content)
    np.testing.assert_array_equal(again.embed(SENTENCES)[0], expected)
    assert again.to_bytes() == content and not again.bilm.is_trainable


def test_each_has_a_biLM_of_its_own(pair: dict[str, str]) -> None:
    one, other = WordVectors(pair), WordVectors(pair)
    one.bilm.to("cpu")
    assert one.bilm is not other.bilm
    np.testing.assert_array_equal(one.embed(SENTENCES)[0], other.embed(SENTENCES)[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": "both"}, "one of mean, top, token, all, or the number of a layer, not 'both'"),
        ({"layers": True}, "not True"),
        ({"layers": "top", "mixing_weights": [1, 1, 1]}, 'go with layers "mean"'),
        ({"mixing_weights": [0, 0, 0]}, "some are positive"),
        ({"precision": "float8"}, "float8"),
    ],
)
def test_wrong_options_are_named_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BiLmError, match=message):
        WordVectors("no such biLM", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 3}, "has the layers 0 to 2, and no 3"),
        ({"mixing_weights": [1, 1]}, "has 3 layers, but mixing_weights 2"),
    ],
)
def test_options_that_do_not_fit_the_biLM_are_named_when_it_is_there(
    options: dict[str, Any], message: str, pair: dict[str, str]
) -> None:
    with pytest.raises(BiLmError, match=message):
        WordVectors(pair, **options).embed(SENTENCES)


def test_the_vectors_are_the_callers_own(pair: dict[str, str]) -> None:
    vectors = WordVectors(pair, "all")
    first = vectors.embed(SENTENCES)[0]
    expected = first.copy()
    first += 1
    np.testing.assert_array_equal(vectors.embed(SENTENCES)[0], expected)
    assert torch.is_grad_enabled()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_flipped_bit_of_what_is_stored_is_one_sentence(pair: dict[str, str], data: st.DataObject) -> None:
    content = bytearray(stored_bilm(pair["options"], pair["weights"]))
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    for restore in (WordVectors(pair).from_bytes, WordVectors.restore):
        with pytest.raises(BiLmError, match=r"^the stored biLM: it is damaged, or not what"):
            restore(bytes(content))


@cache
def stored_bilm(options: str, weights: str) -> bytes:
    return WordVectors({"options": options, "weights": weights}).to_bytes()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_stored_numbers_are_finite(pair: dict[str, str], number: float) -> None:
    vectors = WordVectors(pair)
    with torch.no_grad():
        next(vectors.bilm.parameters()).view(-1)[0] = number
    content = vectors.to_bytes()
    with pytest.raises(BiLmError, match=r"^the stored biLM: the tensor .* has (NaN|an infinite number)"):
        WordVectors(pair).from_bytes(content)
    with pytest.raises(BiLmError, match=r"^the stored biLM: the tensor"):
        pickle.loads(pickle.dumps(vectors))


def test_a_pickle_has_a_checksum(pair: dict[str, str]) -> None:
    vectors = WordVectors(pair)
    vectors.embed(SENTENCES)
    weights = vectors.bilm.state_dict()
    largest = max(weights.values(), key=lambda tensor: tensor.numel()).numpy().tobytes()
    pickled = bytearray(pickle.dumps(vectors))
    pickled[pickled.index(largest) + 3] ^= 64
    with pytest.raises(BiLmError, match="the stored biLM: it is damaged"):
        pickle.loads(bytes(pickled))


@pytest.mark.parametrize("weights", [[INF, 1, 1], [float("nan")] * 3, [1e308] * 3, [INF, -INF, 1]], ids=str)
def test_mixing_weights_that_cannot_be_are_named(weights: list[float]) -> None:
    with pytest.raises(BiLmError, match=r"mixing_weights and their sum must be finite, not \["):
        WordVectors("tiny", mixing_weights=weights)


def test_large_mixing_weights_are_scaled(pair: dict[str, str]) -> None:
    for large, mean in zip(
        WordVectors(pair, mixing_weights=[3e38] * 3).embed(SENTENCES),
        WordVectors(pair).embed(SENTENCES),
        strict=True,
    ):
        np.testing.assert_array_equal(large, mean)


@pytest.mark.parametrize("text", ["the cat", ["the", "cat"], [["the", 3]]], ids=str)
def test_text_is_not_taken_for_words(pair: dict[str, str], text: Any) -> None:
    with pytest.raises(BiLmError, match=r"a sentence is a list of words, such as \['The', 'play'\], not"):
        WordVectors(pair).embed(text)


def test_a_home_that_nobody_has_is_one_sentence() -> None:
    source = {"options": "~nosuchuser/x", "weights": "~nosuchuser/y"}
    with pytest.raises(BiLmError, match="~nosuchuser/"):
        WordVectors(source).embed(SENTENCES)
