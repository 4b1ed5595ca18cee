"""The benchmark counts the arithmetic right, and its command writes the figures that it promises."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from elmo_plugin.bilm import BiLmOptions
from tests.benchmarks.programs import BENCHMARKS, benchmark_module, figures_of
from tests.small_bilm import small_options

OPTIONS = BiLmOptions.from_dict(small_options())  # 2 layers of 10 cells, projections of 6, 18 filters


@pytest.fixture
def arithmetic(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return benchmark_module("arithmetic", monkeypatch)


@pytest.fixture
def material(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return benchmark_module("material", monkeypatch)


def test_an_lstm_step_is_its_three_products_in_all_layers_and_directions(arithmetic: ModuleType) -> None:
    from_input, from_hidden, projection = 6 * 40, 6 * 40, 10 * 6
    assert arithmetic.lstm_operations(OPTIONS.lstm) == 4 * 2 * (from_input + from_hidden + projection)


def test_the_published_original_needs_151_million_operations_a_step(arithmetic: ModuleType) -> None:
    lstm = {"dim": 4096, "projection_dim": 512}
    options = BiLmOptions.from_dict(small_options(lstm=lstm))
    assert round(arithmetic.lstm_operations(options.lstm) / 1e6) == 151


def test_a_step_reads_the_weights_of_hidden_states_and_projections_again(arithmetic: ModuleType) -> None:
    assert arithmetic.weights_per_step(OPTIONS.lstm) == 4 * (6 * 40 + 10 * 6)


def test_the_token_layer_is_counted_for_the_characters_of_the_word(arithmetic: ModuleType) -> None:
    convolutions = 5 * 2 * (1 * 5 * 4 + 2 * 5 * 6 + 4 * 5 * 8)  # "cat" has five characters with its ends
    highway, projection = 2 * 2 * 18 * 18, 2 * 18 * 6
    assert arithmetic.token_operations(OPTIONS, "cat") == convolutions + highway + projection


def test_a_filter_is_counted_where_it_fits_into_the_slots(arithmetic: ModuleType) -> None:
    convolutions = 2 * (50 * 1 * 5 * 4 + 49 * 2 * 5 * 6 + 47 * 4 * 5 * 8)
    assert arithmetic.convolution_operations(OPTIONS.char_cnn, 50) == convolutions


def test_a_training_step_is_three_times_its_forward_pass_with_the_softmax(arithmetic: ModuleType) -> None:
    types = sum(arithmetic.token_operations(OPTIONS, word) for word in ("cat", "bird"))
    softmax = 14 * 2 * 6 * (1 + 20)  # 14 targets with 20 negatives each
    forward = types + 7 * arithmetic.lstm_operations(OPTIONS.lstm) + softmax
    counted = arithmetic.training_operations(OPTIONS, characters=[5, 6], steps=7, targets=14, negatives=20)
    assert counted == 3 * forward


def test_a_text_needs_each_distinct_word_and_the_boundaries_once_and_each_step(
    arithmetic: ModuleType,
) -> None:
    words = ("a", "bird", "<S>", "</S>")
    types = sum(arithmetic.token_operations(OPTIONS, word) for word in words)
    steps = 3 + 4  # each sentence's words and the boundary before them
    expected = types + steps * arithmetic.lstm_operations(OPTIONS.lstm)
    assert arithmetic.text_operations(OPTIONS, [["a", "bird"], ["a", "bird", "bird"], []]) == expected


def test_a_text_is_cut_into_sentences_of_one_length(material: ModuleType) -> None:
    assert material.cut([["a"], ["b", "c", "d"], ["e"]], 2) == [["a", "b"], ["c", "d"]]
    assert material.one_sequence([["a"], ["b", "c"]], 5) == ["a", "b", "c", "a", "b"]


def assert_promised(figures: dict[str, Any], printed: str) -> None:
    """Those of a round of four sentences of five words."""
    assert figures["size"] == "tiny"
    assert figures["precision"] == "float32"
    assert figures["batch_size"] == 32
    assert figures["sentences"] == 4
    assert figures["words_per_sentence"] == 5
    assert figures["rounds"] == len(figures["ratios"]) == 1
    for prefix in ("", "reference_", "peer_"):
        assert figures[f"{prefix}tokens_per_second"] > 0
        share = figures["operations_per_token"] * figures[f"{prefix}tokens_per_second"]
        assert figures[f"{prefix}share_of_peak"] == pytest.approx(
            share / figures["peak_operations_per_second"]
        )
        assert figures[f"{prefix}peak_memory_mb"] is None
    assert figures["cached_tokens_per_second"] > 0
    assert figures["ratio"] == pytest.approx(figures["ratios"][0], abs=1e-3)
    assert figures["max_difference"] < 1e-4
    assert f"{figures['tokens_per_second']:,.1f}" in printed


ROUND = ["--size", "tiny", "--sentences", "4", "--rounds", "1", "--words", "5", "--no-memory"]


def test_the_figures_are_those_that_are_promised(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    program = benchmark_module("embed", monkeypatch)
    monkeypatch.setattr(program, "matrix_product_rate", lambda *_: 5e10)  # to measure it takes seconds
    figures = figures_of("embed", ROUND, monkeypatch, tmp_path)
    assert figures["peak_operations_per_second"] == 5e10
    assert_promised(figures, capsys.readouterr().out)


def test_single_sentences_are_measured_by_the_weights_that_they_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    program = benchmark_module("embed", monkeypatch)
    monkeypatch.setattr(program, "matrix_product_rate", lambda *_: 5e10)
    monkeypatch.setattr(program, "memory_read_rate", lambda: 2e10)
    figures = figures_of("embed", [*ROUND, "--batch-size", "1"], monkeypatch, tmp_path)
    weights = 6 / 5 * 4 * 5 * 512 * 128  # five words and a boundary; `tiny` has 512 cells and 128 dimensions
    expected = weights * 4 * figures["tokens_per_second"]
    assert figures["weight_bytes_per_second"] == pytest.approx(expected)
    assert figures["share_of_memory_peak"] == pytest.approx(expected / 2e10)
    assert "GB/s" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_writes_its_figures(tmp_path: Path) -> None:
    command = [sys.executable, BENCHMARKS / "embed.py", *ROUND]
    command += ["--threads", "1", "--json", tmp_path / "figures.json"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["peak_operations_per_second"] > 0
    assert_promised(figures, result.stdout)


def test_int8_on_a_gpu_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    with pytest.raises(SystemExit) as error:
        figures_of("embed", ["--precision", "int8", "--device", "cuda"], monkeypatch, tmp_path)
    assert error.value.code == 2
    assert "int8 is for a CPU" in capsys.readouterr().err
