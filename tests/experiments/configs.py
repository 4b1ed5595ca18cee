"""Evaluates Jsonnet and builds small models of every task, for the tests of configurations."""

import functools
import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.models import Model

import elmo_plugin.plugin  # noqa: F401 (registers what configurations name)
from tests.conftest import REPOSITORY

FIXTURES = REPOSITORY / "tests" / "fixtures"


def bilm_in(folder: Path) -> dict[str, str]:
    """Returns the two files of a biLM."""
    return {"options": str(folder / "options.json"), "weights": str(folder / "weights.hdf5")}


def each_file(folder: str) -> pytest.MarkDecorator:
    """Runs a test with each `file` of a folder of fixtures."""
    files = sorted((FIXTURES / folder).iterdir())
    return pytest.mark.parametrize("file", files, ids=[file.name for file in files])


BILM = bilm_in(FIXTURES / "bilm")
WORD_DIM, ELMO_DIM = 5, 12
DATA = {
    task: FIXTURES / task / file
    for task, file in (("ner", "sentences.txt"), ("snli", "pairs.jsonl"))
}
DATA["sst"] = FIXTURES / "sst" / "trees.txt"
DATA["coref"] = FIXTURES / "coref" / "documents.gold_conll"
DATA["squad"] = FIXTURES / "squad" / "articles.json"
DATA["srl"] = FIXTURES / "srl" / "sentences.gold_conll"
SIZES = {
    "coref": "hidden=4, lexical_dropout=0, ",
    "ner": "batch_size=2, ",
    "snli": "batch_size=2, hidden=4, ",
    "squad": "batch_size=2, hidden=4, moving_average=null, ",
    "sst": "batch_size=2, hidden=8, ",
    "srl": "batch_size=2, hidden=8, predicate_dim=4, ",
}
TASKS = [*SIZES, "srl_predicates"]
VARIABLES = {
    name: name.lower()
    for name in ("CONLL2003", "CONLL2012", "SNLI", "SQUAD", "SST", "WORD_VECTORS")
}

EMBEDDERS = "model.contextual_encoder.text_field_embedder.token_embedders"
ELMO = "model.contextual_encoder.elmo"
INPUT, OUTPUT = f"{ELMO}.input", f"{ELMO}.output"
INPUT_WEIGHTS = "contextual_encoder\\.elmo\\.mixes\\.input\\.scalar_mix\\.weights"
OUTPUT_WEIGHTS = "contextual_encoder\\.elmo\\.mixes\\.output\\.scalar_mix\\.weights"


@functools.cache
def _evaluate(expression: str) -> str:
    libraries = "".join(
        f"local {file.stem} = import '{file}';"
        for file in (REPOSITORY / "elmo_plugin" / "jsonnet").glob("*.libsonnet")
    )
    return _jsonnet.evaluate_snippet(
        str(REPOSITORY / "experiments" / "test.jsonnet"), libraries + expression
    )


def evaluate(expression: str) -> dict[str, Any]:
    """
    Evaluates `expression` as a configuration in `experiments/`, which may use the libraries of
    `elmo_plugin/jsonnet` by their names.
    """
    return json.loads(_evaluate(expression))


def evaluate_for_each_task(expression: str) -> dict[str, dict[str, Any]]:
    """
    Evaluates an expression with the function of each task in place of `TASK`. All are evaluated at
    once, which takes hardly longer than one.
    """
    fields = [f"{task}: {expression.replace('TASK', task)}" for task in TASKS]
    return evaluate(f"{{ {', '.join(fields)} }}")


def read_config(path: str, overrides: str = "") -> dict[str, Any]:
    """Reads a file of this repository."""
    return Params.from_file(REPOSITORY / path, overrides, ext_vars=VARIABLES).as_dict(quiet=True)


def flat(config: Any, path: str = "") -> dict[str, Any]:
    """Returns the values of a configuration by their paths."""
    if not isinstance(config, dict):
        return {path: config}
    return {
        name: value
        for key in config
        for name, value in flat(config[key], f"{path}.{key}".lstrip(".")).items()
    }


def small_config(task: str, at: str, options: str = "") -> dict[str, Any]:
    """
    Returns a small configuration without dropout, with the ELMo that the Jsonnet expression `at`
    adds.
    """
    data = DATA[task]
    return evaluate(
        f"{task}(data='{data.parent}', train='{data.name}', dev='{data.name}', dropout=0, "
        f"epochs=1, words=words.learned(dim={WORD_DIM}, min_count=1), {SIZES[task]}{options}) + "
        f"{at}"
    )


def elmo_at(placements: list[str], options: str = "lambda=0.1") -> str:
    """Returns the expression that adds ELMo from a small biLM."""
    return f"elmo.at({json.dumps(placements)}, bilm={json.dumps(BILM)}, dropout=0, {options})"


def model_and_batch(config: dict[str, Any], data: Path) -> tuple[Model, dict[str, Any]]:
    """Returns the model, untrained, and all of the data as one batch."""
    torch.manual_seed(0)
    batch = Batch(DatasetReader.from_params(Params(config["dataset_reader"])).read(data))
    vocab = Vocabulary.from_instances(batch.instances)
    batch.index_instances(vocab)
    return Model.from_params(Params(config["model"]), vocab=vocab), batch.as_tensor_dict()


def parameters(model: Model, end: str) -> dict[str, torch.Tensor]:
    """Returns the values whose names end in the suffix."""
    return {name: weight for name, weight in model.named_parameters() if name.endswith(end)}
