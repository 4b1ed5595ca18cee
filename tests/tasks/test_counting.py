"""Metrics report gold data without the items that they count."""

from collections.abc import Callable
from typing import Any

import pytest

from elmo_plugin.tasks.coref.metrics import CorefConll
from elmo_plugin.tasks.counting import ScoreMetric
from elmo_plugin.tasks.ner.metrics import NerF1
from elmo_plugin.tasks.srl.metrics import SrlF1

TAGS = (["O", "B-V"], ["B-A0", "B-V"])
CASES: dict[str, tuple[Callable[[], ScoreMetric], Any, Any]] = {
    "entities": (NerF1, ["O", "O"], ["O", "B-PER"]),
    "arguments": (SrlF1, *TAGS),
    "clusters": (CorefConll, [], [[(0, 0), (2, 2)]]),
}


@pytest.mark.parametrize("name", CASES)
def test_gold_data_without_items_are_reported_once_at_the_end(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, nothing, something = CASES[name]
    batch = (lambda value: value) if name == "clusters" else (lambda value: [value])
    for gold, warnings in ((something, 0), (nothing, 1)):
        caplog.clear()
        metric: Any = make()
        metric(batch(something), batch(gold))
        metric.get_metric()
        assert not caplog.messages
        metric.get_metric(reset=True)
        assert caplog.messages == [f"the data have no {name}: precision, recall and F1 are 0"] * warnings
    metric.get_metric(reset=True)
    assert len(caplog.messages) == 1


def test_plain_tags_lack_no_entities(caplog: pytest.LogCaptureFixture) -> None:
    metric = NerF1(has_entities=False)
    metric([["NOUN"]], [["VERB"]])
    assert metric.get_metric(reset=True) == {"accuracy": 0.0}
    assert not caplog.messages
