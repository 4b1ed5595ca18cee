"""The question answering benchmark gives both models the same questions, and writes its figures."""

from pathlib import Path

import pytest

from tests.benchmarks.programs import figures_of
from tests.conftest import REPOSITORY

DATA = REPOSITORY / "tests" / "fixtures" / "squad" / "articles.json"


def test_the_command_writes_its_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("allennlp_models.rc.models.bidaf", reason="needs allennlp-models")
    sizes = ["--size", "tiny", "--hidden-size", "3", "--batch-size", "2", "--rounds", "1"]
    figures = figures_of("squad", [*sizes, "--data", str(DATA)], monkeypatch, tmp_path)
    assert (figures["questions"], figures["paragraphs"]) == (4, 2)
    for name in ("", "training_"):
        ours, peer = figures[f"{name}questions_per_second"], figures[f"peer_{name}questions_per_second"]
        assert figures[f"{name}ratio"] == pytest.approx(ours / peer)
