"""What other libraries get from a biLM."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError, precision_on
from elmo_plugin.integrations.word_vectors import WordVectors
from tests.small_bilm import loud_bilm, write_pair

SENTENCES = [["The", "play", "ended", "."], [], ["Hello"]]


@pytest.mark.parametrize(
    ("layers", "weights"),
    [
        ("mean", [1 / 3, 1 / 3, 1 / 3]),
        ([0.25, 0, 0.75], [0.25, 0, 0.75]),
        ("token", [1, 0, 0]),
        (1, [0, 1, 0]),
        ("top", [0, 0, 1]),
    ],
    ids=str,
)
def test_a_word_has_the_weighted_mean_of_its_layers(
    layers: Any, weights: list[float], pair: dict[str, str]
) -> None:
    bilm = BiLm.from_files(pair["options"], pair["weights"])
    vectors = WordVectors(pair, layers)
    assert vectors.num_features == 12
    for actual, all_layers in zip(vectors.embed(SENTENCES), bilm.embed(SENTENCES), strict=True):
        assert actual.dtype == np.float32
        expected = sum(weight * layer.double() for weight, layer in zip(weights, all_layers, strict=True))
        np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_a_digest_tells_biLMs_and_settings_apart(pair: dict[str, str], tmp_path: Path) -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"layers": "top"},
        {"layers": "all"},
        {"layers": [0.25, 0, 0.75]},
        {"precision": precision_on(torch.device("cpu"), "bfloat16").name},  # on an older processor, float32
    ]
    digests = {WordVectors(pair, **each).digest() for each in settings}
    (tmp_path / "copy").mkdir()
    assert WordVectors(write_pair(loud_bilm(), tmp_path / "copy")).digest() in digests
    write_pair(loud_bilm(1), tmp_path)
    digests |= {WordVectors(pair, **each).digest() for each in settings}
    assert len(digests) == 2 * (len(settings) - (settings[-1]["precision"] == "float32"))


@pytest.mark.parametrize(
    "settings",
    [{"layers": "both"}, {"layers": True}, {"layers": [0, 0, 0]}, {"precision": "float8"}],
    ids=str,
)
def test_wrong_settings_are_named_at_once(settings: dict[str, Any]) -> None:
    with pytest.raises(BiLmError, match=r"layers must be|mixing weights must be|float8"):
        WordVectors("no such biLM", **settings)
