from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm.io.training_archive import read_archive
from tests.experiments.programs import experiment_module
from tests.trained_bilm import random_bilm, write_training


def test_each_weight_is_the_mean_of_those_of_the_archives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives = []
    for factor in (1.0, 2.0, 6.0):
        bilm = random_bilm()
        for tensor in bilm.state_dict().values():
            tensor.mul_(factor)
        archives.append(write_training(tmp_path / str(factor), bilm))
    experiment_module("average", monkeypatch).average(archives, tmp_path / "mean.tar.gz")
    options, weights, softmax = read_archive(tmp_path / "mean.tar.gz")
    bilm = random_bilm()
    assert options == bilm.options
    for name, tensor in bilm.state_dict().items():
        torch.testing.assert_close(weights[name], 3 * tensor)
    expected = read_archive(archives[0])[2]
    assert softmax is not None and expected is not None and softmax.words == expected.words
    assert torch.equal(softmax.weight, expected.weight) and torch.equal(softmax.bias, expected.bias)
