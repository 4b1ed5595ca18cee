"""The softmax and the options of a training archive; `test_sources.py` has the rest."""

import json
from pathlib import Path

import pytest
import torch
from allennlp.data import Vocabulary

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io.training_archive import check_weights, read_archive
from tests.small_bilm import small_options
from tests.trained_bilm import COUNTS, random_bilm, random_softmax, words_of, write_training


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_training(tmp_path / "run", random_bilm())
    return tmp_path / "run"


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_the_softmax_is_ordered_like_allennlps_vocabulary(
    tmp_path: Path, compressed: bool, padded: bool
) -> None:
    vocab = Vocabulary({"words": dict(COUNTS)}, non_padded_namespaces=[] if padded else ["words"])
    expected = random_softmax(words_of(vocab))
    archive = write_training(tmp_path / "run", random_bilm(), vocab, expected)
    softmax = read_archive(archive if compressed else tmp_path / "run").softmax
    assert softmax is not None and softmax.words == words_of(vocab)
    assert torch.equal(softmax.weight, expected.weight) and torch.equal(softmax.bias, expected.bias)


def test_a_vocabulary_of_another_size_is_refused(run: Path) -> None:
    (run / "vocabulary" / "words.txt").write_text("@@UNKNOWN@@\nthe\n")
    with pytest.raises(BiLmError, match=r"softmax has 9 words, but vocabulary/words\.txt has 2"):
        read_archive(run)


def test_options_missing_from_the_configuration_are_inferred_from_the_weights(run: Path) -> None:
    bilm = random_bilm()
    (run / "config.json").write_text(
        json.dumps({"model": {"type": "bilm", "initial": "gone.tar.gz"}})
    )
    options, weights, softmax = read_archive(run, with_softmax=False)
    assert softmax is None
    assert options == bilm.options
    assert set(weights) == set(bilm.state_dict())


def test_mismatched_weights_are_named() -> None:
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
