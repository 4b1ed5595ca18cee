"""The metric `coref_conll`: its names, and its sums over documents and processes."""

from pathlib import Path

import pytest
from allennlp.training.metrics import Metric

from elmo_plugin.tasks.coref.clusters import Mention
from elmo_plugin.tasks.coref.metrics import CorefConll, CorefScores
from tests.tasks.two_processes import figures_in_two_processes

# Predicted and right, as a program and as JSON has them.
DOCUMENTS = [
    ([[Mention(0, 1), Mention(3, 5)], [Mention(7, 8)]], [[(0, 1), (3, 5), (7, 8)]]),
    ([[[0, 1], [4, 6], [9, 9]]], [[[0, 1], [4, 6]], [[2, 3], [9, 9]]]),
    ([], [[(5, 6), (8, 9)]]),
]


def test_figures_are_those_of_the_counts() -> None:
    metric, scores = Metric.by_name("coref_conll")(), CorefScores()
    for predicted, gold in DOCUMENTS:
        metric(predicted, gold)
        scores.add(gold, predicted)
    found = metric.get_metric()
    for group, figures in {
        "coref": scores.average(),
        **{name: counts.figures() for name, counts in scores.counts().items()},
    }.items():
        names = [f"{group}_precision", f"{group}_recall", f"{group}_f1"]
        assert tuple(found.pop(name) for name in names) == figures
    assert not found


def test_the_coreference_score_is_the_mean_of_three() -> None:
    metric = CorefConll()
    metric(*DOCUMENTS[0])
    found = metric.get_metric()
    assert [found[f"muc_{figure}"] for figure in ("precision", "recall", "f1")] == [1, 1 / 2, 2 / 3]
    for figure in ("precision", "recall", "f1"):
        assert found[f"coref_{figure}"] == pytest.approx(
            (found[f"muc_{figure}"] + found[f"bcub_{figure}"] + found[f"ceafe_{figure}"]) / 3
        )
    assert found["mention_f1"] == 1


def test_a_reset_forgets() -> None:
    metric = CorefConll()
    metric(*DOCUMENTS[0])
    assert metric.get_metric(reset=True)["coref_f1"] > 0
    assert set(metric.get_metric().values()) == {0.0}


def test_processes_sum_what_they_counted(tmp_path: Path) -> None:
    metric = CorefConll()
    for document in DOCUMENTS:
        metric(*document)
    expected = metric.get_metric()
    for first, second, after_reset in figures_in_two_processes(CorefConll, DOCUMENTS, tmp_path):
        assert first == second == pytest.approx(expected)
        assert set(after_reset.values()) == {0.0}
