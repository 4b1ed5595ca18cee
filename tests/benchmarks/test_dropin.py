"""Both processes predict the same with the archive that is written, and the command writes its figures."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.allennlp_elmo import allennlps_own_afterwards
from tests.benchmarks.programs import benchmark_module, figures_of
from tests.small_bilm import loud_bilm, write_pair


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat .\na dog ran\n" * 4)
    return path


def test_the_figures_compare_both_with_one_archive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: Path
) -> None:
    program = benchmark_module("dropin", monkeypatch)
    bilm = loud_bilm()
    monkeypatch.setattr(program, "write_model", lambda _size, folder: write_pair(bilm, folder))
    monkeypatch.setattr(program, "options_of", lambda _size: bilm.options)
    turns = []

    def in_this_process(_program: str, *arguments: Any) -> dict[str, Any]:
        archive, name = Path(arguments[arguments.index("--archive") + 1]), arguments[-1]
        turns.append(name)
        with allennlps_own_afterwards() if name == "ours" else contextlib.nullcontext():
            sentences = program.read_sentences(text)
            return json.loads(json.dumps(program.predict(name, archive, sentences, 4)))

    monkeypatch.setattr(program, "in_fresh_process", in_this_process)
    options = ["--size", "tiny", "--batch-size", "4", "--rounds", "2", "--text", str(text)]
    figures = figures_of("dropin", options, monkeypatch, tmp_path)
    assert turns == ["peer", "ours", "peer", "ours"]
    assert figures["size"] == "tiny"
    assert figures["tokens"] == 40
    assert figures["max_difference"] < 1e-5
    assert figures["rounds"] == len(figures["ratios"]) == 2
    assert figures["tokens_per_second"] > 0
    assert figures["peer_tokens_per_second"] > 0


@pytest.mark.slow
def test_the_command_runs_both_in_processes_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: Path
) -> None:
    options = ["--size", "tiny", "--rounds", "1", "--text", str(text)]
    figures = figures_of("dropin", options, monkeypatch, tmp_path)
    assert figures["max_difference"] < 1e-5
    assert figures["ratio"] == pytest.approx(figures["ratios"][0], abs=1e-3)
