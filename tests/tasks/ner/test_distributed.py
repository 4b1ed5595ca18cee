"""The tagger in several processes."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch
from allennlp.common.plugins import import_plugins
from allennlp.models import load_archive
from torch import multiprocessing

from tests.tasks.ner import test_contract
from tests.trained_tagger import train


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="a copy of a process that has used a GPU cannot train")
def test_two_processes_report_the_figures_of_all_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = partial(multiprocessing.start_processes, start_method="fork")  # with all that is imported here
    monkeypatch.setattr(multiprocessing, "spawn", fork)
    import_plugins()
    config = test_contract.TestNer.config(["input"], requires_grad=True)
    sentences = Path(config["train_data_path"]).read_text()
    data = tmp_path / "sentences.txt"
    data.write_text(f"{sentences}\nBerlin NNP I-NP B-LOC\n")  # as many sentences for each process
    config |= {"train_data_path": str(data), "validation_data_path": str(data)}
    config["distributed"] = {"cuda_devices": [-1, -1]}
    train(config, tmp_path / "run")
    archive = load_archive(tmp_path / "run" / "model.tar.gz")
    model, instances = archive.model, list(archive.validation_dataset_reader.read(data))
    model.eval().forward_on_instances(instances)
    expected = model.get_metrics()
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    for name, value in expected.items():
        assert metrics[f"best_validation_{name}"] == pytest.approx(value), name
