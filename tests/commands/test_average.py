"""The mean of several trainings, as an archive."""

import tarfile
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.io.training_archive import read_archive
from elmo_plugin.commands.average import mean
from tests.commands.run import run
from tests.small_bilm import small_options
from tests.trained_bilm import random_bilm, write_training


def write_scaled(folder: Path, factor: float) -> Path:
    """An archive of the random biLM with all its weights scaled."""
    bilm = random_bilm()
    for tensor in bilm.state_dict().values():
        tensor.mul_(factor)
    return write_training(folder, bilm)


def test_each_weight_is_the_mean_of_those_of_the_archives(tmp_path: Path) -> None:
    archives = [write_scaled(tmp_path / str(factor), factor) for factor in (1.0, 2.0, 6.0)]
    output = tmp_path / "new" / "mean.tar.gz"
    run("average", *archives, "-o", output)
    options, weights, softmax = read_archive(output)
    bilm = random_bilm()
    assert options == bilm.options
    for name, tensor in bilm.state_dict().items():
        torch.testing.assert_close(weights[name], 3 * tensor)
    expected = read_archive(archives[0])[2]
    assert softmax is not None and expected is not None
    assert softmax.words == expected.words
    assert torch.equal(softmax.weight, expected.weight) and torch.equal(softmax.bias, expected.bias)


def test_all_but_the_weights_is_that_of_the_first(tmp_path: Path) -> None:
    archives = [write_scaled(tmp_path / str(factor), factor) for factor in (1.0, 3.0)]
    run("average", *archives, "-o", tmp_path / "mean.tar.gz")

    def members(path: Path) -> dict[str, bytes]:
        with tarfile.open(path) as archive:
            files = {member.name: archive.extractfile(member) for member in archive}
            return {name: file.read() for name, file in files.items() if file is not None}

    first, written = members(archives[0]), members(tmp_path / "mean.tar.gz")
    assert first.pop("weights.th") != written.pop("weights.th")
    assert first == written


def test_the_options_that_weights_keep_stay_with_them(tmp_path: Path) -> None:
    archives = []
    for name in "ab":
        write_training(tmp_path / name, random_bilm())
        (tmp_path / name / "config.json").write_text('{"model": {"type": "bilm", "initial": "gone"}}')
        archives.append(tmp_path / f"{name}.tar.gz")
        with tarfile.open(archives[-1], "w:gz") as archive:
            for member, file in {"config.json": "config.json", "best.th": "weights.th"}.items():
                archive.add(tmp_path / name / member, arcname=file)
            archive.add(tmp_path / name / "vocabulary", arcname="vocabulary")
    run("average", *archives, "-o", tmp_path / "mean.tar.gz")
    assert read_archive(tmp_path / "mean.tar.gz")[0] == BiLmOptions.from_dict(small_options())


def test_a_mean_is_summed_in_float64() -> None:
    values = [torch.tensor([2.0**24]), torch.tensor([1.0]), torch.tensor([1.0])]
    assert mean(values).dtype == torch.float
    assert mean(values).item() == torch.tensor((2**24 + 2) / 3, dtype=torch.float).item()


@pytest.mark.parametrize(
    ("bilm", "words", "message"),
    [
        (BiLm(BiLmOptions.from_dict(small_options(char_cnn={"n_highway": 2}))), None, "other sizes"),
        (random_bilm(), {"the": 2, "dog": 1}, "vocabulary differs from"),
    ],
    ids=["sizes", "vocabulary"],
)
def test_bilms_that_do_not_fit_each_other_are_refused(
    tmp_path: Path, bilm: BiLm, words: dict[str, int] | None, message: str
) -> None:
    first = write_training(tmp_path / "a", random_bilm())
    other = write_training(tmp_path / "b", bilm, words and Vocabulary({"words": words}))
    with pytest.raises(ConfigurationError, match=rf"archive .*b/model\.tar\.gz: .*{message}"):
        run("average", first, other, "-o", tmp_path / "mean.tar.gz")
    assert not (tmp_path / "mean.tar.gz").exists()
