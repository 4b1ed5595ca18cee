"""Means and deviations are right, tables and pictures have all scores."""

import json
from pathlib import Path

import numpy as np
import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.sweeps.scores import Metric, markdown_table, results_for_json, summary
from elmo_plugin.sweeps.trainings import PROVENANCE_NAME, Training


@given(st.lists(st.floats(0, 100), min_size=2, max_size=9))
def test_a_summary_gives_the_mean_and_the_sample_deviation(scores: list[float]) -> None:
    mean, deviation = map(float, summary(scores).split(" ± "))
    assert mean == pytest.approx(np.mean(scores), abs=0.006)
    assert deviation == pytest.approx(np.std(scores, ddof=1), abs=0.006)


def test_a_table_has_a_row_for_each_configuration() -> None:
    scores = {"baseline": [1.0, 2.0, 6.0], "elmo": [7.5], "failed": []}
    assert markdown_table(scores, "accuracy").splitlines() == [
        "| configuration | accuracy, mean ± sd | of each seed |",
        "| --- | --- | --- |",
        "| baseline | 3.00 ± 2.65 | 1.00, 2.00, 6.00 |",
        "| elmo | 7.50 | 7.50 |",
        "| failed | none |  |",
    ]


def test_provenances_that_differ_are_joined_and_what_one_lacks_is_not_listed(
    tmp_path: Path,
) -> None:
    records = [{"commit": "b2", "date": "2024-01-01"}, {"commit": "a1", "date": "2024-01-01"}]
    records[1]["machine"] = "big"
    trainings = []
    for seed, record in enumerate(records, start=1):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / PROVENANCE_NAME).write_text(json.dumps(record))
        trainings.append(Training("ner", seed, {}, folder))
    assert results_for_json(trainings, {"ner": [1.0, 2.0]}, "elmo sweep") == {
        "ner": {
            "scores": [1.0, 2.0],
            "command": "elmo sweep",
            "commit": "a1; b2",
            "date": "2024-01-01",
            "machine": "big",
        }
    }
    assert results_for_json(trainings, {"ner": [1.0]}, "elmo sweep") == {}  # one of them failed


def test_higher_is_better_metrics_are_percentages_and_the_rest_unchanged() -> None:
    metrics = {
        "best_validation_accuracy": 0.123456,
        "best_validation_loss": 1.234567,
        "accuracy": 0.5,
    }
    assert Metric.parse("+accuracy").score(metrics) == 12.35
    assert Metric.parse("-loss").score(metrics) == 1.2346
    with pytest.raises(
        ConfigurationError, match="unknown metric f1: expected one of accuracy, loss"
    ):
        Metric.parse("+f1").score(metrics)


@pytest.mark.parametrize("text", ["accuracy", "+", "", None, ["+accuracy", "-loss"]])
def test_a_metric_without_its_sign_is_an_error(text: object) -> None:
    with pytest.raises(
        ConfigurationError, match=r"metric: expected \+ or - at its start, such as \+accuracy, got"
    ):
        Metric.parse(text)
