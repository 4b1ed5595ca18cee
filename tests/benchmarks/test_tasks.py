"""The benchmark of the tasks gives both sides the same batches and sizes, and writes its figures."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks.programs import benchmark_module, figures_of
from tests.conftest import REPOSITORY

DOCUMENTS = REPOSITORY / "tests" / "fixtures" / "coref" / "documents.gold_conll"


@pytest.fixture
def material(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return benchmark_module("task_material", monkeypatch)


def test_training_documents_are_cut_with_their_clusters(material: ModuleType) -> None:
    (document, *_) = material.DatasetReader.by_name("coref_conll2012")({}).read(DOCUMENTS)
    cut = material.cut_document(document["document"].metadata, 2)
    assert cut.sentences == document["document"].metadata.sentences[:2]
    assert cut.clusters == [[(0, 1), (2, 3)], [(2, 4), (5, 6)]]


def test_elmo_is_at_the_input_alone_and_words_need_no_file(material: ModuleType) -> None:
    bilm = {"options": "options.json", "weights": "weights.hdf5"}
    for name in material.TASKS:
        config = material.read_config(name, bilm)
        embedders = material.embedders_of(config)
        assert embedders["elmo"]["bilm"] == bilm
        assert "output_elmo" not in config["model"]["contextual_encoder"]
        assert "pretrained_file" not in embedders["tokens"]


def test_batches_are_the_samplers_and_prediction_has_no_gold_labels(material: ModuleType) -> None:
    config = material.read_config("snli", {"options": "", "weights": ""})
    read = material.read_material("snli", config, material.DATA, 3)
    assert [len(batch) for batch in read.training] == [32, 32, 32]
    lengths = [len(each["hypothesis"].tokens) for batch in read.training for each in batch[:1]]
    assert len(set(lengths)) > 1  # drawn from all over the epoch
    assert all("label" in each.fields for batch in read.training for each in batch)
    assert not any("label" in each.fields for batch in read.prediction for each in batch)


def test_without_allennlp_models_the_program_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = benchmark_module("tasks", monkeypatch)
    monkeypatch.setattr(tasks, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["tasks", "--threads", "1"])
    with pytest.raises(SystemExit, match=r"pip install allennlp-models==2\.10\.1"):
        tasks.main()


@pytest.mark.slow
@pytest.mark.parametrize("state", ["known", "unknown", "cached", "bfloat16"])
def test_ours_alone_trains_and_prints_its_peak_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    tasks = benchmark_module("tasks", monkeypatch)
    options = ["--tasks", "ner", "--threads", "1", "--alone", state, "--work", "training"]
    monkeypatch.setattr(sys, "argv", ["tasks", *options])
    tasks.main()
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) > 0


@pytest.mark.slow
def test_both_sides_have_the_same_words_and_parameters(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("allennlp_models", reason="needs allennlp-models")
    options = ["--tasks", "ner", "snli", "--rounds", "1", "--no-memory"]
    for figures in figures_of("tasks", options, monkeypatch, tmp_path)["tiny"].values():
        for name in ("parameters", "trained_parameters", "training_words", "prediction_words"):
            assert figures[name] == figures[f"peer_{name}"] > 0
        for work in ("training", "prediction"):
            for state in ("known", "unknown", "cached"):
                times = [figures[work][f"{side}_seconds"] for side in ("peer", state)]
                assert figures[work][f"{state}_ratio"] == pytest.approx(times[0] / times[1], rel=0.01)
