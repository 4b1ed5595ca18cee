"""The coreference benchmark gives both models the same documents, and writes its figures."""

from pathlib import Path

import pytest

from tests.benchmarks.programs import benchmark_module, figures_of
from tests.conftest import REPOSITORY

DATA = REPOSITORY / "tests" / "fixtures" / "coref" / "documents.gold_conll"
SIZES = ["--embedding-dim", "5", "--hidden-size", "4", "--feedforward", "6", "--max-span-width", "3"]


def test_the_command_writes_its_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("allennlp_models", reason="needs allennlp-models")
    options = [*SIZES, "--data", str(DATA), "--documents", "2", "--rounds", "1", "--no-memory"]
    figures = figures_of("coref", options, monkeypatch, tmp_path)
    assert (figures["documents"], figures["words"]) == (2, 18)
    for name in ("", "training_"):
        ours, peer = figures[f"{name}documents_per_second"], figures[f"peer_{name}documents_per_second"]
        assert figures[f"{name}ratio"] == pytest.approx(ours / peer)


def test_training_documents_are_cut_with_their_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    program = benchmark_module("coref", monkeypatch)
    document = next(program.read_documents(DATA))
    cut = program.first_sentences(document, 2)
    assert cut.sentences == document.sentences[:2]
    assert cut.clusters == [[(0, 1), (2, 3)], [(2, 4), (5, 6)]]
