"""Counts of arguments against the figures of srl-eval.pl."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.training.metrics import Metric

from elmo_plugin.tasks.spans import tags_to_spans
from elmo_plugin.tasks.srl.metrics import SrlCounts, SrlF1, SrlScores
from tests.tasks.two_processes import figures_in_two_processes


def read_tags(shared: Path) -> list[dict[str, Any]]:
    text = (shared / "parity" / "srl" / "tags.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_bio_tags_score_as_srl_eval_scored_their_props(shared: Path) -> None:
    figures = json.loads((shared / "parity" / "srl" / "scores.json").read_text(encoding="utf-8"))
    metric, scores = Metric.by_name("srl_f1")(), SrlScores()
    for line in read_tags(shared):
        metric([line["system"]], [line["gold"]])
        scores.add(tags_to_spans(line["gold"]), tags_to_spans(line["system"]))
    found = metric.get_metric()
    assert len(found) == 3 * len(figures)
    for name, counts in {"Overall": scores.overall(), **scores.role_counts()}.items():
        expected = figures.pop(name)
        assert counts._asdict() == {field: expected[field] for field in SrlCounts._fields}
        name = name.replace("Overall", "overall")
        values = [found[f"{figure}-{name}"] for figure in ("precision", "recall", "f1-measure")]
        assert [round(100 * value, 2) for value in values] == [
            expected[figure] for figure in ("precision", "recall", "f1")
        ]
    assert not figures


def test_predictions_that_do_not_belong_to_the_gold_tags_are_refused() -> None:
    with pytest.raises(ValueError, match="srl_f1: expected 2 tags, got 1"):
        SrlF1()([["O"]], [["O", "O"]])
    with pytest.raises(ValueError, match="longer than argument 1"):
        SrlF1()([["O"]], [["O"], ["O"]])


BATCHES = [
    ([["B-A0", "B-V", "O"]], [["B-A0", "B-V", "B-A1"]]),
    ([["B-V", "O"], ["O", "B-A2"]], [["B-V", "B-A2"], ["B-A3", "B-A2"]]),
    ([["B-A0", "I-A0"]], [["B-A0", "O"]]),
]


def test_processes_sum_what_they_counted(tmp_path: Path) -> None:
    metric = SrlF1()
    for batch in BATCHES:
        metric(*batch)
    expected = metric.get_metric()
    for first, second, after_reset in figures_in_two_processes(SrlF1, BATCHES, tmp_path):
        assert first == second == expected
        assert set(after_reset.values()) == {0.0}
