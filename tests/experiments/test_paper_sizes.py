"""
Each configuration of the paper at its full size: one training step on the example data.

A step has at most four examples. The heads of the configurations have the seconds and memory of a
step with a whole batch, which this prints for one task at a time:

    ELMO_WHOLE_BATCH=1 OMP_NUM_THREADS=1 uv run pytest --slow -n 0 -s \\
        tests/experiments/test_paper_sizes.py -k squad
"""

import json
import os
import resource
import time
from collections.abc import Iterator

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer

from elmo_plugin.bilm import BiLm, BiLmOptions
from tests.experiments.configs import ELMO, EMBEDDERS, evaluate, read_config
from tests.experiments.programs import DATA

CONFIGS = {  # of each task, in training_config; its data are those of the experiments
    "coref": "coref_conll2012",
    "ner": "ner_conll2003",
    "snli": "snli",
    "squad": "squad",
    "srl": "srl_conll2012",
    "sst": "sst",
}


@pytest.fixture(scope="module", autouse=True)
def _original() -> Iterator[None]:
    """Loads one biLM of the size of `original`, with random weights, in place of any other."""
    config = evaluate("(import '../elmo_plugin/jsonnet/bilm.libsonnet').sizes.original")
    torch.manual_seed(0)
    bilm = BiLm(BiLmOptions.from_dict(config)).eval().requires_grad_(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BiLm, "from_pretrained", lambda *_: bilm)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("task", CONFIGS)
def test_a_model_of_the_papers_size_takes_a_training_step(task: str) -> None:
    """With random weights and word vectors, on a batch as the configuration's loader makes it."""
    overrides = {f"{ELMO}.bilm": "original", f"{EMBEDDERS}.tokens.pretrained_file": None}
    if task == "ner":
        overrides["dataset_reader.source_encoding"] = "BIO"
    config = read_config(f"training_config/{CONFIGS[task]}.jsonnet", json.dumps(overrides))
    sampler = config["data_loader"].get("batch_sampler")
    if sampler and "ELMO_WHOLE_BATCH" not in os.environ:
        sampler["batch_size"] = 4
    reader = DatasetReader.from_params(Params(config["dataset_reader"]))
    (data,) = (DATA / task).glob("train.*")
    vocab = Vocabulary.from_instances(reader.read(data))
    prepare_environment(Params({}))  # the same batch and weights each time
    model = Model.from_params(Params(config["model"]), vocab=vocab)
    loader = DataLoader.from_params(
        Params(config["data_loader"]), reader=reader, data_path=str(data)
    )
    loader.index_with(vocab)
    weights = dict(model.named_parameters())
    trained = {
        name: weight.detach().clone() for name, weight in weights.items() if weight.requires_grad
    }
    frozen = {name: weight for name, weight in weights.items() if not weight.requires_grad}
    assert sum(weight.numel() for name, weight in frozen.items() if "bilm" in name) == 93_600_864
    parameters = [(name, weights[name]) for name in trained]
    optimizer = Optimizer.from_params(
        Params(config["trainer"]["optimizer"]), model_parameters=parameters
    )
    batch, begun = next(iter(loader)), time.process_time()
    loss = model(**batch)["loss"] + (model.get_regularization_penalty() or 0.0)
    loss.backward()
    optimizer.step()
    seconds, peak = (
        time.process_time() - begun,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )
    print(f"{task}: {seconds:.1f} s of processor time, {peak / 1e9:.1f} GB at most")
    assert torch.isfinite(loss)
    assert not [name for name, before in trained.items() if torch.equal(before, weights[name])]
    assert all(weights[name].isfinite().all() for name in trained)
