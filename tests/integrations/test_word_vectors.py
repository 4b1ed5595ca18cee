"""What other libraries get from a biLM."""

from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLmError, precision_on
from elmo_plugin.integrations.word_vectors import WordVectors
from tests.small_bilm import loud_bilm, write_pair

SENTENCES = [["The", "play", "ended", "."], [], ["Hello"]]


@pytest.mark.slow
def test_digests_differ_between_biLMs_and_settings(pair: dict[str, str], tmp_path: Path) -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"layers": "top"},
        {"layers": "all"},
        {"layers": [0.25, 0, 0.75]},
        {
            "precision": precision_on(torch.device("cpu"), "bfloat16").name
        },  # on an older processor, float32
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
    with pytest.raises(BiLmError, match=r"layers: expected|mixing weights: expected|float8"):
        WordVectors("no such biLM", **settings)


def test_a_stored_biLM_is_restored_without_its_source_unless_it_has_nan() -> None:
    bilm = loud_bilm()
    options = bilm.options.to_dict()
    weights = {name: weight.clone() for name, weight in bilm.state_dict().items()}
    word_vectors = WordVectors("no such biLM")
    word_vectors.restore(options, weights)
    assert word_vectors.bilm.digest() == bilm.digest()
    name = next(iter(weights))
    weights[name].view(-1)[0] = torch.nan
    with pytest.raises(BiLmError, match=rf"^the stored biLM: the tensor {name} has NaN in it$"):
        word_vectors.restore(options, weights)
