"""How much data and how many updates a score takes."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.sweeps import (
    Metric,
    Training,
    curve_table,
    curves_of_results,
    find_reaches,
    reaches_text,
)
from elmo_plugin.sweeps.sample_efficiency import fraction_to_reach, updates_to_reach

ACCURACY, LOSS = Metric("accuracy", True), Metric("loss", False)


def test_the_part_is_interpolated_on_a_logarithmic_axis() -> None:
    curve = {0.01: [20.0], 0.1: [40.0, 60.0], 1.0: [80.0]}
    assert fraction_to_reach(curve, 50, True) == pytest.approx(0.1)
    assert fraction_to_reach(curve, 35, True) == pytest.approx(0.01 * 10**0.5)
    assert fraction_to_reach(curve, 10, True) == 0.01
    assert fraction_to_reach(curve, 81, True) is None
    assert fraction_to_reach({0.1: [3.0], 1.0: [1.0]}, 2, False) == pytest.approx(10**-0.5)


def test_curves_are_read_from_the_results_that_name_a_part() -> None:
    results = {"a@0.1": {"scores": [1.0, 2.0]}, "b@0.1": {"scores": [3.0]}, "a@1": {"scores": [4.0]}, "c": {}}
    assert curves_of_results(results) == {"a": {0.1: [1.0, 2.0], 1.0: [4.0]}, "b": {0.1: [3.0]}}


def write_training(folder: Path, accuracies: list[float]) -> Path:
    folder.mkdir(parents=True)
    (folder / "updates.json").write_text(json.dumps([7 * (epoch + 1) for epoch in range(len(accuracies))]))
    for epoch, accuracy in enumerate(accuracies):
        metrics = {"validation_accuracy": accuracy, "validation_loss": 1 - epoch / 4}
        (folder / f"metrics_epoch_{epoch}.json").write_text(json.dumps(metrics))
    return folder


def test_a_score_is_reached_at_the_first_epoch_that_has_it(tmp_path: Path) -> None:
    folder = write_training(tmp_path / "1", [0.2, 0.5, 0.4])
    assert updates_to_reach(folder, 40, ACCURACY) == 14
    assert updates_to_reach(folder, 60, ACCURACY) is None
    assert updates_to_reach(folder, 0.5, LOSS) == 21


def test_two_configurations_are_compared_by_what_they_need(tmp_path: Path) -> None:
    trainings = [
        Training("elmo", 1, {}, write_training(tmp_path / "elmo@0.1" / "1", [0.5]), 0.1),
        Training("elmo", 1, {}, write_training(tmp_path / "elmo@1" / "1", [0.4, 0.7]), 1.0),
        Training("baseline", 1, {}, write_training(tmp_path / "baseline@1" / "1", [0.6, 0.3]), 1.0),
    ]
    curves = {"elmo": {0.1: [50.0], 1.0: [70.0]}, "baseline": {1.0: [60.0]}}
    of_elmo, of_baseline = find_reaches(trainings, curves, ACCURACY)
    assert of_elmo.fraction == pytest.approx(10**-0.5)
    assert (of_elmo.other, of_elmo.score, of_elmo.most, of_elmo.updates) == ("baseline", 60.0, 1.0, [14])
    assert (of_baseline.fraction, of_baseline.updates) == (None, [None])
    elmo, baseline = reaches_text([of_elmo, of_baseline]).splitlines()
    assert elmo.startswith("elmo comes to the 60.00 of baseline with 31.6 % of the data")
    assert elmo.endswith("after this many updates: 14.")
    assert baseline == "No part of the data is enough that baseline comes to the 70.00 of elmo."
    assert curve_table(curves, "accuracy").splitlines()[2:] == [
        "| 10 % | 50.00 | none |",
        "| 100 % | 70.00 | 60.00 |",
    ]


def test_scores_on_test_data_are_compared_without_updates(tmp_path: Path) -> None:
    trainings = [Training(name, 1, {}, tmp_path / name, 1.0) for name in ("elmo", "baseline")]
    curves = {"elmo": {1.0: [70.0]}, "baseline": {1.0: [60.0]}}
    reaches = find_reaches(trainings, curves, Metric("test_accuracy", True))
    assert [reach.updates for reach in reaches] == [[], []]
    elmo, baseline = reaches_text(reaches).splitlines()
    assert elmo == "elmo comes to the 60.00 of baseline with 100 % of the data."
    assert baseline == "No part of the data is enough that baseline comes to the 70.00 of elmo."


def test_a_training_without_its_updates_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=str(tmp_path)):
        updates_to_reach(tmp_path, 50, ACCURACY)
