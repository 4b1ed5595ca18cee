"""
Each configuration of the paper at its full size: one training step on the example data.

The heads of the configurations have its seconds and memory, which it prints for one task at a time:

    OMP_NUM_THREADS=1 uv run pytest --slow -n 0 -s tests/experiments/test_paper_sizes.py -k squad
"""

import json
import resource
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.data import DataLoader, DatasetReader, Instance, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer

from elmo_plugin.bilm import BiLm, BiLmOptions
from tests.experiments.configs import ELMO, EMBEDDERS, evaluate, flat, read_config
from tests.experiments.programs import DATA

CONFIGS = {  # of each task, in training_config; its data are those of the experiments
    "coref": "coref_conll2012",
    "ner": "ner_conll2003",
    "snli": "snli",
    "squad": "squad",
    "srl": "srl_conll2012",
    "sst": "sst",
}


class Step(NamedTuple):
    """
    model: at its full size
    optimizer: of all parameters that are trained
    batch: one of the configuration's own batches
    """

    model: Model
    optimizer: Optimizer
    batch: dict[str, Any]

    def take(self) -> float:
        """Trains the model on the batch, and returns the loss."""
        penalty = self.model.get_regularization_penalty()
        loss = self.model(**self.batch)["loss"] + (0.0 if penalty is None else penalty)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


@pytest.fixture(scope="module", autouse=True)
def _original() -> Iterator[None]:
    """Loads one biLM of the size of `original`, with random weights, in place of any other."""
    config = evaluate("(import '../elmo_plugin/jsonnet/bilm.libsonnet').sizes.original")
    torch.manual_seed(0)
    bilm = BiLm(BiLmOptions.from_dict(config)).eval().requires_grad_(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BiLm, "from_pretrained", lambda *_: bilm)
        yield


def words_of(instances: Iterable[Instance]) -> set[str]:
    fields = chain.from_iterable(instance.fields.values() for instance in instances)
    lists = (field.field_list if isinstance(field, ListField) else [field] for field in fields)
    texts = (text for text in chain.from_iterable(lists) if isinstance(text, TextField))
    return {token.text for text in texts for token in text}


def prepare(task: str, folder: Path) -> Step:
    """Builds what the task's configuration of the paper describes, with random weights and word vectors."""
    path, vectors = f"training_config/{CONFIGS[task]}.jsonnet", folder / "vectors.txt"
    overrides = {f"{ELMO}.bilm": "original", f"{EMBEDDERS}.tokens.pretrained_file": str(vectors)}
    if task == "ner":
        overrides["dataset_reader.source_encoding"] = "BIO"
    config = read_config(path, json.dumps(overrides))
    reader = DatasetReader.from_params(Params(config["dataset_reader"]))
    (data,) = (DATA / task).glob("train.*")
    instances = list(reader.read(data))
    dim = flat(config)[f"{EMBEDDERS}.tokens.embedding_dim"]
    lines = (f"{word} {' '.join(['0.1'] * dim)}\n" for word in sorted(words_of(instances)))
    vectors.write_text("".join(lines), encoding="utf-8")
    prepare_environment(Params({}))  # the same batch and weights each time
    vocab = Vocabulary.from_instances(instances)
    model = Model.from_params(Params(config["model"]), vocab=vocab)
    loader = DataLoader.from_params(Params(config["data_loader"]), reader=reader, data_path=str(data))
    loader.index_with(vocab)
    trained = [(each, weight) for each, weight in model.named_parameters() if weight.requires_grad]
    optimizer = Optimizer.from_params(Params(config["trainer"]["optimizer"]), model_parameters=trained)
    return Step(model, optimizer, next(iter(loader)))


@pytest.mark.slow
@pytest.mark.parametrize("task", CONFIGS)
def test_a_model_of_the_papers_size_takes_a_training_step(task: str, tmp_path: Path) -> None:
    step = prepare(task, tmp_path)
    weights = dict(step.model.named_parameters())
    trained = {name: weight.detach().clone() for name, weight in weights.items() if weight.requires_grad}
    frozen = {name: weight for name, weight in weights.items() if not weight.requires_grad}
    assert sum(weight.numel() for name, weight in frozen.items() if "bilm" in name) == 93_600_864
    begun = time.process_time()
    loss = step.take()
    seconds, peak = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{task}: {seconds:.1f} s of processor time, {peak / 1e9:.1f} GB at most")
    assert torch.isfinite(torch.tensor(loss))
    unchanged = {name for name, before in trained.items() if torch.equal(before, weights[name])}
    assert unchanged == set()
    assert all(weights[name].isfinite().all() for name in trained)
