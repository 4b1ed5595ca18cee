"""Each benchmark runs once, on little data, and writes the figures that it promises."""

import json
import sys
from pathlib import Path

import pytest

from tests.benchmarks.programs import benchmark_module, figures_of, run_program_in_a_fork

TEXT = "the cat sat on the mat .\na dog ran\n" * 40
TINY = ["--size", "tiny", "--rounds", "1"]
# Options, and figures that are above zero. A measurement of a GPU runs `embed` and `train_bilm`.
PROGRAMS: dict[str, tuple[list[str], list[str]]] = {
    "import_data": (["--lines", "20", "--tasks", "sst", "squad"], []),
    "embed_file": (["--words", "50", "--workers", "1"], []),
    "cache": (
        ["--sentences", "12", "--batch-size", "4", "--rounds", "1"],
        ["float16_ratio", "memory_ratio"],
    ),
    "dropin": ([*TINY, "--text", "TEXT", "--sentences", "8"], ["ratio", "peer_tokens_per_second"]),
}


@pytest.mark.slow
@pytest.mark.usefixtures("without_hardening")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_writes_its_figures(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    options, positive = PROGRAMS[name]
    options = [str(tmp_path / "text.txt") if option == "TEXT" else option for option in options]
    figures = figures_of(name, options, monkeypatch, tmp_path)
    assert all(figures[figure] > 0 for figure in positive), figures
    assert figures.get("max_difference", 0) < 1e-4


@pytest.mark.slow
def test_similar_texts_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs elmo_plugin[sklearn]")
    pytest.importorskip("scipy")
    lines = []
    for subject in ("A man", "A dog", "The tall woman", "Two children"):
        first = f"{subject} runs through the snow."
        for second, label in (
            ("moves outside", "entailment"),
            ("sleeps in a bed", "contradiction"),
        ):
            fields = {
                "sentence1": first,
                "sentence2": f"{subject} {second}.",
                "gold_label": label,
            }
            lines.append(json.dumps(fields))
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    figures = figures_of("similarity", [str(file), "--bilm", "tiny"], monkeypatch, tmp_path)
    assert figures["pairs"] == 8
    for name, measured in figures.items():
        if isinstance(measured, dict):
            assert measured["found"] == 100, name
            assert -100 <= measured["correlation"] <= 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "states"), [("ner", ["known", "unknown", "cached", "bfloat16"]), ("snli", ["known"])]
)
def test_both_sides_compute_with_the_same_words_and_parameters(
    task: str, states: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("allennlp_models", reason="needs allennlp-models")
    options = ["--tasks", task, "--states", *states, "--rounds", "1", "--no-memory"]
    figures = figures_of("tasks", options, monkeypatch, tmp_path)["tiny"][task]
    for name in ("parameters", "trained_parameters", "training_words", "prediction_words"):
        assert figures[name] == figures[f"peer_{name}"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("without_hardening")
@pytest.mark.parametrize("part", ["embed_64x20_original_float32", "train_original_128"])
def test_a_gpu_measurement_is_complete_at_small_sizes_on_a_cpu(
    part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = ["gpu", "--device", "cpu", "--small", "--folder", str(tmp_path), "--parts", part]
    monkeypatch.setattr(sys, "argv", options)
    module = benchmark_module("gpu", monkeypatch)
    monkeypatch.setitem(benchmark_module("machine", monkeypatch).LARGE_PRODUCT, "cpu", 128)
    monkeypatch.setattr(module, "run_program", run_program_in_a_fork)
    module.main()
    figures = json.loads((tmp_path / f"{part}.json").read_text())
    assert figures["tokens_per_second"] > 0 and figures["peer_tokens_per_second"] > 0
    assert figures["ratio"] > 0 and figures.get("max_difference", 0) < 1e-4
    assert json.loads((tmp_path / "summary.json").read_text())[part]["end"] == "complete"
