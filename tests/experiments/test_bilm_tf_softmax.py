"""The program that runs in bilm-tf's environment, here with a stand-in for TensorFlow.

What it wrote there, next to what bilm-tf computes, is tests/fixtures/bilm_tf.
"""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from elmo_plugin.bilm.io import Checkpoint, read_checkpoint, write_files
from elmo_plugin.language_model import measure_perplexity
from tests.experiments.programs import experiment_module
from tests.trained_bilm import random_bilm, random_softmax

WORDS = ["</S>", "<S>", "<UNK>", "the", "cat", "Wörterbuch", "辞書"]


class CheckpointReader:
    """What `tf.train.load_checkpoint` returns."""

    def __init__(self, tensors: dict[str, np.ndarray]) -> None:
        self._tensors = tensors

    def get_tensor(self, name: str) -> np.ndarray:
        return self._tensors[name]


class Train:
    """Stands for the module `tf.train` where there is one checkpoint."""

    def __init__(self, folder: str, tensors: dict[str, np.ndarray]) -> None:
        self._folder = folder
        self._tensors = tensors

    def load_checkpoint(self, folder: str) -> CheckpointReader:
        assert folder == self._folder
        return CheckpointReader(self._tensors)


SOFTMAX = random_softmax(WORDS)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    tensorflow = ModuleType("tensorflow")
    tensors = {"lm/softmax/W": SOFTMAX.weight.numpy(), "lm/softmax/b": SOFTMAX.bias.numpy()}
    vars(tensorflow)["train"] = Train(str(tmp_path), tensors)
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    monkeypatch.delitem(sys.modules, "bilm_tf_softmax", raising=False)
    return experiment_module("bilm_tf_softmax", monkeypatch)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A weight file without a softmax, beside its options; and the file of words."""
    bilm = random_bilm()
    (tmp_path / "vocabulary.txt").write_text(
        "\n".join([*WORDS, "!!!MAXTERMID"]) + "\n", encoding="utf-8"
    )
    _, path = write_files(tmp_path / "bilm", Checkpoint(bilm.options, bilm.state_dict().items()))
    return path


def _run(program: ModuleType, weights: Path) -> None:
    folder = weights.parents[1]
    program.add_softmax(str(folder), str(folder / "vocabulary.txt"), str(weights))


@pytest.mark.slow
def test_the_softmax_of_a_checkpoint_is_read_and_scores_text(
    program: ModuleType, weights: Path, tmp_path: Path
) -> None:
    _run(program, weights)
    stored = read_checkpoint(weights.parent)
    assert stored.softmax is not None and stored.softmax.words == WORDS
    assert torch.equal(stored.softmax.weight, SOFTMAX.weight)
    assert torch.equal(stored.softmax.bias, SOFTMAX.bias)
    for name, tensor in stored.weights:
        assert torch.equal(tensor, random_bilm().state_dict()[name]), name
    bilm = random_bilm()
    ours = tmp_path / "ours"
    write_files(ours, Checkpoint(bilm.options, bilm.state_dict().items(), SOFTMAX))
    (tmp_path / "text.txt").write_text("the cat\nthe 辞書 sat\n", encoding="utf-8")
    text = [str(tmp_path / "text.txt")]
    assert measure_perplexity(str(weights.parent), text) == measure_perplexity(str(ours), text)


def test_a_mismatched_vocabulary_and_a_second_softmax_are_refused_without_changes(
    program: ModuleType, weights: Path, tmp_path: Path
) -> None:
    content = weights.read_bytes()
    vocabulary = tmp_path / "vocabulary.txt"
    words = vocabulary.read_text(encoding="utf-8")
    vocabulary.write_text(words + "dog\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"vocabulary\.txt has 8 words, but the softmax 7 rows"):
        _run(program, weights)
    assert weights.read_bytes() == content
    vocabulary.write_text(words, encoding="utf-8")
    _run(program, weights)
    content = weights.read_bytes()
    with pytest.raises(SystemExit, match=r"weights\.hdf5 has a softmax already"):
        _run(program, weights)
    assert weights.read_bytes() == content
    assert sorted(file.name for file in weights.parent.iterdir()) == [
        "options.json",
        "weights.hdf5",
    ]
