"""Words of a table are counted in its texts."""

from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from safetensors.torch import load_file, save_file

from elmo_plugin.bilm.word_frequencies import COUNTS_NAME
from tests.experiments.programs import experiment_module

TEXTS = ("The cat saw the dog .\nthe end\n", "A cat\n")


def make_table(folder: Path, words: list[str]) -> Path:
    text = torch.tensor(list("\n".join(words).encode()), dtype=torch.uint8)
    save_file({"words": text}, folder / "vectors.safetensors")
    return folder


def test_counts_stand_in_the_order_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
        files.append(str(tmp_path / f"{number}.txt"))
    table = make_table(tmp_path, ["the", "cat", "A"])
    total = experiment_module("word_counts", monkeypatch).write_counts(files, table)
    written = load_file(tmp_path / COUNTS_NAME)
    assert total == int(written["total"]) == 10
    assert written["counts"].tolist() == [2, 2, 1]


def test_texts_of_another_table_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text(TEXTS[0])
    table = make_table(tmp_path, ["the", "zebra"])
    with pytest.raises(ConfigurationError, match="the texts do not contain 'zebra'"):
        experiment_module("word_counts", monkeypatch).write_counts(
            [str(tmp_path / "text.txt")], table
        )
    assert not (tmp_path / COUNTS_NAME).exists()
