"""Metrics sum what processes count, and report gold data without the items that they count."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import distributed, multiprocessing

from elmo_plugin.tasks.coref.metrics import CorefConll
from elmo_plugin.tasks.counting import CountingMetric
from elmo_plugin.tasks.ner.metrics import NerF1
from elmo_plugin.tasks.squad.metrics import SquadEmAndF1
from elmo_plugin.tasks.srl.metrics import SrlF1

TAGS = (["O", "B-V"], ["B-A0", "B-V"])
CASES: dict[str, tuple[Callable[[], CountingMetric], Any, Any]] = {
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
        assert (
            caplog.messages
            == [f"the data have no {name}: precision, recall and F1 are 0"] * warnings
        )
    metric.get_metric(reset=True)
    assert len(caplog.messages) == 1


BATCHES: dict[type[CountingMetric], list[Any]] = {
    NerF1: [
        ([["U-PER", "O"]], [["U-PER", "U-LOC"]]),
        ([["B-ORG", "L-ORG"], ["O"]], [["B-ORG", "L-ORG"], ["U-PER"]]),
        ([["O", "U-MISC"]], [["O", "O"]]),
    ],
    CorefConll: [
        ([[(0, 1), (4, 6), (9, 9)]], [[(0, 1), (4, 6)], [(2, 3), (9, 9)]]),
        ([], [[(5, 6), (8, 9)]]),
    ],
    SquadEmAndF1: [("in 1887", ["1887"]), (None, ["x"]), ("a b", ["b c", "c"])],
}


@pytest.mark.parametrize("kind", BATCHES)
def test_counts_are_summed_over_processes(kind: type[CountingMetric], tmp_path: Path) -> None:
    """Each of two processes gets every other batch."""
    metric = kind()
    for batch in BATCHES[kind]:
        metric(*batch)
    method = (
        "spawn" if torch.cuda.is_available() else "fork"
    )  # a copy of a process cannot use its GPU
    multiprocessing.start_processes(_count, (kind, str(tmp_path)), nprocs=2, start_method=method)
    for rank in range(2):
        first, second, after_reset = torch.load(tmp_path / f"{rank}.pt")
        assert first == second == pytest.approx(metric.get_metric())
        assert set(after_reset.values()) == {0.0}


def _count(rank: int, kind: type[CountingMetric], folder: str) -> None:
    distributed.init_process_group("gloo", f"file://{folder}/store", world_size=2, rank=rank)
    metric = kind()
    for batch in BATCHES[kind][rank::2]:
        metric(*batch)
    figures = [metric.get_metric(), metric.get_metric(reset=True), metric.get_metric()]
    torch.save(figures, f"{folder}/{rank}.pt")
    distributed.destroy_process_group()
