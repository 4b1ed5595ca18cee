"""Counts of arguments against the figures of srl-eval.pl."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.training.metrics import Metric

from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.metrics import SrlF1, score_srl
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence


def read_tags(shared: Path) -> list[dict[str, Any]]:
    text = (shared / "parity" / "srl" / "tags.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_bio_tags_score_as_srl_eval_scored_their_props(shared: Path) -> None:
    figures = json.loads((shared / "parity" / "srl" / "scores.json").read_text(encoding="utf-8"))
    metric = Metric.by_name("srl_f1")()
    for line in read_tags(shared):
        metric([line["system"]], [line["gold"]])
    found = metric.get_metric()
    assert len(found) == 3 * len(figures)
    counts = {"overall": metric.overall_counts(), **metric.label_counts()}
    for name, (correct, predicted, gold) in counts.items():
        expected = figures.pop(name.replace("overall", "Overall"))
        counted = (correct, predicted - correct, gold - correct)
        assert counted == tuple(expected[field] for field in ("correct", "excess", "missed"))
        values = [found[f"{figure}-{name}"] for figure in ("precision", "recall", "f1-measure")]
        assert [round(100 * value, 2) for value in values] == [
            expected[figure] for figure in ("precision", "recall", "f1")
        ]
    assert not figures


def test_predictions_of_another_length_than_the_gold_tags_are_refused() -> None:
    with pytest.raises(ValueError, match="srl_f1: expected 2 tags, got 1"):
        SrlF1()([["O"]], [["O", "O"]])
    with pytest.raises(ValueError, match="longer than argument 1"):
        SrlF1()([["O"]], [["O"], ["O"]])


def test_a_role_that_is_called_like_the_totals_does_not_replace_them() -> None:
    gold = Predicate(0, "go", [Span(0, 1, "V"), Span(1, 2, "Overall"), Span(2, 3, "A1")])
    system = Predicate(0, "go", [Span(0, 1, "V"), Span(1, 2, "Overall")])
    words = ["go", "x", "y"]
    figures = score_srl(
        [SrlSentence(words, [gold], "gold")], [SrlSentence(words, [system], "system")]
    )
    assert list(figures) == ["Overall", "A1", "label_Overall", "V"]
    assert [row["missed"] for row in figures.values()] == [1, 1, 0, 0]
