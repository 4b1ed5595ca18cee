"""The benchmark of sizes changes nothing but the sizes, and trains as long as the speeds say."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Vocabulary

from tests.benchmarks.programs import benchmark_module


def test_a_size_is_its_cells_and_dimensions_and_all_else_of_the_configuration(
    monkeypatch: pytest.MonkeyPatch, bilm_config: dict[str, Any]
) -> None:
    program = benchmark_module("bilm_sizes", monkeypatch)
    before = json.dumps(bilm_config)
    options = program.options_of(bilm_config, "24x6")
    assert json.dumps(bilm_config) == before
    own = bilm_config["model"]["options"]
    assert options == {**own, "lstm": {**own["lstm"], "dim": 24, "projection_dim": 6}}


def test_a_size_trains_for_the_tokens_that_it_does_in_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bilm_config: dict[str, Any]
) -> None:
    program, training = (benchmark_module(name, monkeypatch) for name in ("bilm_sizes", "training"))
    bilm_config["trainer"] |= {"grad_norm": 1.0, "learning_rate_scheduler": {"type": "polynomial_decay"}}
    text, speeds = bilm_config["train_data_path"], tmp_path / "speeds.json"
    loader = training.make_loader(bilm_config["data_loader"], text, str(tmp_path / "cache"))
    vocab = Vocabulary.from_instances(loader.iter_instances())
    vocab.save_to_files(str(tmp_path / "vocabulary"))
    (tmp_path / "config.json").write_text(json.dumps(bilm_config))
    common = ["--data", text, "--vocabulary", str(tmp_path / "vocabulary")]
    common += ["--config", str(tmp_path / "config.json")]

    def run(*options: str) -> dict[str, Any]:
        output = str(tmp_path / "figures.json")
        monkeypatch.setattr("sys.argv", ["bilm_sizes", *options, *common, "--json", output])
        program.main()
        return json.loads(Path(output).read_text())

    monkeypatch.setattr(program, "SENTENCES", 2)
    measured = run("speeds", "24x6", "16x8")["sizes"]
    assert set(measured) == {"24x6", "16x8", "tiny"}
    assert measured["24x6"]["trained_tokens_per_second"] > 0
    assert measured["tiny"]["of_the_speed_of_tiny"] == 1.0
    rows = bilm_config["data_loader"]["batch_size"] * bilm_config["data_loader"]["unroll_steps"]
    speeds.write_text(json.dumps({"sizes": {"24x6": {"trained_tokens_per_second": 2.0 * rows}}}))
    options = ("--speeds", str(speeds), "--seconds", "1.5", "--validation", text)
    figures = run("perplexity", "24x6", *options)
    assert figures["steps"] == 3
    assert 0 < figures["tokens"] <= 3 * rows
    assert 1 < figures["perplexity"] < 1000
