"""The benchmark writes texts of the right lengths, and the figures that it promises."""

from pathlib import Path

import pytest

from tests.benchmarks.programs import benchmark_module, figures_of


def test_a_text_has_as_many_words_as_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = benchmark_module("embed_file", monkeypatch)
    sentences = [["a", "b", "c"], ["d"]]
    for words, expected in ((2, "a b\n"), (4, "a b c\nd\n"), (6, "a b c\nd\na b\n")):
        program.write_text(tmp_path / "text.txt", sentences, words)
        assert (tmp_path / "text.txt").read_text() == expected


@pytest.mark.slow
def test_the_command_writes_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--words", "50", "--workers", "1", "2", "--folder", str(tmp_path)]
    figures = figures_of("embed_file", options, monkeypatch, tmp_path)
    assert [(run["words"], run["workers"]) for run in figures["runs"]] == [(50, 1), (50, 2)]
    for run in figures["runs"]:
        assert run["tokens_per_second"] > 0 and run["peak_memory_mb"] > 100 and run["output_mb"] > 0
        assert (run["worker_peak_memory_mb"] > 100) == (run["workers"] > 1)
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]
