"""The two NER experiments train as they stand, for fewer epochs."""

import json
from pathlib import Path

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params

import elmo_plugin.plugin  # noqa: F401  (registers what the configurations name)

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_elmo_beats_the_baseline_after_three_epochs_of_the_example_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPOSITORY)
    scores, few_epochs = {}, json.dumps({"trainer.num_epochs": 3})
    for variant in ("baseline", "elmo"):
        params = Params.from_file(f"experiments/ner_{variant}.jsonnet", few_epochs)
        train_model(params, serialization_dir=tmp_path / variant)
        metrics = json.loads((tmp_path / variant / "metrics.json").read_text())
        scores[variant] = metrics["best_validation_f1-measure-overall"]
    assert scores["elmo"] > scores["baseline"] + 0.05, scores
