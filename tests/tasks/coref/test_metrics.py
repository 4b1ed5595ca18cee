"""The metric `coref_conll`: its names, and its sums over documents and processes."""

from pathlib import Path

import pytest
from allennlp.training.metrics import Metric

from elmo_plugin.tasks.coref.metrics import CorefConll, CorefScores
from elmo_plugin.tasks.spans import Span
from tests.tasks.two_processes import figures_in_two_processes

# Predicted and right, as a program and as JSON has them.
DOCUMENTS = [
    ([[Span(0, 1), Span(3, 5)], [Span(7, 8)]], [[Span(0, 1), Span(3, 5), Span(7, 8)]]),
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


def test_processes_sum_what_they_counted(tmp_path: Path) -> None:
    metric = CorefConll()
    for document in DOCUMENTS:
        metric(*document)
    expected = metric.get_metric()
    for first, second, after_reset in figures_in_two_processes(CorefConll, DOCUMENTS, tmp_path):
        assert first == second == pytest.approx(expected)
        assert set(after_reset.values()) == {0.0}
