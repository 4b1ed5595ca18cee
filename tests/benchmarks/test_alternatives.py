"""The benchmark of other encoders reads the same words with each, and writes its figures."""

from pathlib import Path

import pytest
import torch

from tests.benchmarks.programs import benchmark_module, figures_of


@pytest.mark.slow
def test_the_command_writes_words_per_second(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = ["--models", "tiny", "minilm_6", "--precisions", "float32", "--sentences", "4", "--rounds", "1"]
    figures = figures_of("alternatives", options, monkeypatch, tmp_path)
    assert figures["sentences"] == 4
    for name in ("tiny", "minilm_6"):
        assert figures[f"{name}_float32_words_per_second"] > 0


def test_an_encoder_reads_a_quarter_more_pieces_than_words(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    class Model(torch.nn.Module):
        config = benchmark_module("alternatives", monkeypatch).BertConfig()

        def forward(self, **inputs: torch.Tensor) -> None:
            seen.update(inputs)

    benchmark_module("alternatives", monkeypatch).encode(Model(), [["word"] * 8, ["word"] * 4])
    assert seen["attention_mask"].sum(dim=1).tolist() == [8 + 2 + 2, 4 + 1 + 2]
    assert (seen["input_ids"] != 0).sum(dim=1).tolist() == [12, 7]
