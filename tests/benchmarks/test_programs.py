"""Each benchmark runs once, on little data, and writes the figures that it promises."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from elmo_plugin.bilm.token_encoder import CachedTokenEncoder
from tests.benchmarks.programs import benchmark_module, figures_of

TEXT = "the cat sat on the mat .\na dog ran\n" * 40
TINY = ["--size", "tiny", "--rounds", "1"]
PROGRAMS: dict[str, tuple[list[str], list[str]]] = {  # options, and figures that are above zero
    "embed": ([*TINY, "--sentences", "4", "--words", "5", "--no-memory"], ["tokens_per_second", "ratio"]),
    "embed_extras": (["--what", "import", "--rounds", "1"], []),
    "embed_file": (["--words", "50", "--workers", "1"], []),
    "cache": (["--sentences", "12", "--batch-size", "4", "--rounds", "1"], ["ratio", "memory_ratio"]),
    "dropin": ([*TINY, "--text", "TEXT", "--sentences", "8"], ["ratio", "peer_tokens_per_second"]),
    "encoders": (["highway_lstm", "--layers", "2", "--sentences", "3", "--rounds", "1"], ["ratio"]),
    "read_columns": (["--sentences", "50", "--rounds", "1"], ["words_per_second", "ratio"]),
    "soak": (["--calls", "20"], ["calls"]),
    "demo": (["--bilm", "tiny", "--requests", "6", "--at-once", "3", "--repeat", "2"], ["requests"]),
    "alternatives": (
        ["--models", "tiny", "minilm_6", "--precisions", "float32", "--sentences", "4", "--rounds", "1"],
        ["tiny_float32_words_per_second", "minilm_6_float32_words_per_second"],
    ),
    "train_bilm": (
        [*TINY, "--batch-size", "4", "--unroll-steps", "5", "--negatives", "20", "--vocabulary", "100"]  # noqa: RUF005
        + ["--steps", "2", "--loader-seconds", "0.2", "--no-memory", "--text", "TEXT"],
        ["tokens_per_second", "peer_tokens_per_second", "loader_tokens_per_second"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_writes_its_figures(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    if name == "soak":  # it fills all caches before its calls
        monkeypatch.setattr(CachedTokenEncoder, "word_cache_size", 1000)
        monkeypatch.setattr(benchmark_module("soak", monkeypatch), "LONGEST", 30)
    options, positive = PROGRAMS[name]
    options = [str(tmp_path / "text.txt") if option == "TEXT" else option for option in options]
    figures = figures_of(name, options, monkeypatch, tmp_path)
    assert all(figures[figure] > 0 for figure in positive), figures
    assert figures.get("max_difference", 0) < 1e-4 and figures.get("wrong", 0) == 0


def small_recipe(config: dict[str, Any], folder: Path) -> list[str]:
    """Writes a training that takes a second, and returns the options that name it."""
    config["validation_data_loader"] = {**config["data_loader"], "shuffle": False}
    schedule = {"type": "polynomial_decay", "warmup_steps": 2}
    config["trainer"] |= {"grad_norm": 1.0, "learning_rate_scheduler": schedule}
    (folder / "config.json").write_text(json.dumps(config))
    text = config["train_data_path"]
    return ["--data", text, "--validation", text, "--config", str(folder / "config.json")]


@pytest.mark.slow
def test_both_recipes_train_for_the_same_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bilm_config: dict[str, Any]
) -> None:
    options = [*small_recipe(bilm_config, tmp_path), "--steps", "9", "--points", "3"]
    figures = figures_of("train_recipes", options, monkeypatch, tmp_path)
    assert figures["modern"]["steps"] == 9
    pairs = zip(figures["modern"]["curve"], figures["published"]["curve"], strict=True)
    assert all(published[0] >= modern[0] for modern, published in pairs)


@pytest.mark.slow
def test_both_networks_are_trained_on_as_many_tokens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bilm_config: dict[str, Any]
) -> None:
    bilm_config["model"]["dropout"] = 0.0
    options = [*small_recipe(bilm_config, tmp_path), "--tokens", str(40 * 12)]
    figures = figures_of("train_peer", options, monkeypatch, tmp_path)
    assert (figures["tokens"], figures["steps"]) == (480, 40)
    assert all(1 < figures[f"{prefix}perplexity"] < figures["words"] for prefix in ("", "peer_"))


@pytest.mark.slow
def test_both_sides_have_the_same_words_and_parameters(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("allennlp_models", reason="needs allennlp-models")
    options = ["--tasks", "ner", "snli", "--rounds", "1", "--no-memory"]
    for figures in figures_of("tasks", options, monkeypatch, tmp_path)["tiny"].values():
        for name in ("parameters", "trained_parameters", "training_words", "prediction_words"):
            assert figures[name] == figures[f"peer_{name}"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", ["embed_original", "train_original", "tasks", "embed_file"])
def test_a_measurement_for_a_gpu_ends_on_a_cpu(
    part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alone = ["--parts" if part == "embed_file" else "--alone", part]  # the first: in a process
    options = ["gpu", "--device", "cpu", "--small", "--folder", str(tmp_path), *alone]
    monkeypatch.setattr(sys, "argv", options)
    benchmark_module("gpu", monkeypatch).main()
    assert json.loads((tmp_path / f"{part}.json").read_text())["is_complete"]
