"""The six tasks at the paper's sizes: configurations, and the batches that their samplers make."""

import random
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common import Params
from allennlp.data import BatchSampler, DatasetReader, Instance, Vocabulary
from material import REPOSITORY

import elmo_plugin.plugin  # noqa: F401  (registers what the configurations name)
from elmo_plugin.tasks.coref import CorefDocument

DATA = REPOSITORY / "experiments" / "data"
VARIABLES = ("CONLL2003", "CONLL2012", "SNLI", "SQUAD", "SST", "WORD_VECTORS")


class Task(NamedTuple):
    """
    config: the name of its configuration in training_config
    gold: the fields that prediction does without
    """

    config: str
    gold: tuple[str, ...]


TASKS = {
    "ner": Task("ner_conll2003", ("tags", "gold_tags")),
    "snli": Task("snli", ("label",)),
    "sst": Task("sst", ("label",)),
    "srl": Task("srl_conll2012", ("tags",)),
    "squad": Task("squad", ("answers",)),
    "coref": Task("coref_conll2012", ("clusters",)),
}


class Material(NamedTuple):
    """
    vocab: of all data
    training, prediction: batches of instances, for prediction without the answers
    """

    vocab: Vocabulary
    training: list[list[Instance]]
    prediction: list[list[Instance]]


def read_config(name: str, bilm: dict[str, str]) -> dict[str, Any]:
    """
    The task's configuration of the paper with this biLM, ELMo only at the input, where
    allennlp-models can have it too. Word vectors are random; those that the paper does not train
    are not trained. Penalties are left out.
    """
    ext_vars = dict.fromkeys(VARIABLES, "")
    path = REPOSITORY / "training_config" / f"{TASKS[name].config}.jsonnet"
    config = Params.from_file(path, ext_vars=ext_vars).as_dict(quiet=True)
    config["model"].pop("regularizer", None)
    elmo_of(config).pop("output", None)
    elmo_of(config)["bilm"] = bilm
    del embedders_of(config)["tokens"]["pretrained_file"]
    if name == "ner":
        config["dataset_reader"]["source_encoding"] = "BIO"  # of the example data
    return config


def embedders_of(config: dict[str, Any]) -> dict[str, Any]:
    return config["model"]["contextual_encoder"]["text_field_embedder"]["token_embedders"]


def elmo_of(config: dict[str, Any]) -> dict[str, Any]:
    return config["model"]["contextual_encoder"]["elmo"]


def read_material(name: str, config: dict[str, Any], data: Path, count: int) -> Material:
    """
    The vocabulary, and the first batches of an epoch over each file, such as train.txt and dev.txt.
    """
    reader_configs = [
        config["dataset_reader"],
        config.get("validation_dataset_reader", config["dataset_reader"]),
    ]
    parts = [
        read(reader_config, next((data / name).glob(f"{part}.*")))
        for reader_config, part in zip(reader_configs, ("train", "dev"), strict=True)
    ]
    if name == "coref":
        most = config["model"]["max_training_sentences"]
        parts[0] = [first_sentences(config, instance, most) for instance in parts[0]]
    vocab = Vocabulary.from_params(
        Params(deepcopy(config["vocabulary"])),
        instances=[instance for part in parts for instance in part],
    )
    training, prediction = (
        [
            [part[number] for number in numbers]
            for numbers in islice(batches_of(config, part), count)
        ]
        for part in parts
    )
    for instance in (instance for batch in prediction for instance in batch):
        for field in TASKS[name].gold:
            instance.fields.pop(field, None)
    return Material(vocab, training, prediction)


def read(config: dict[str, Any], path: Path) -> list[Instance]:
    reader = DatasetReader.from_params(Params(deepcopy(config)))
    instances = list(reader.read(path))
    for instance in instances:
        reader.apply_token_indexers(instance)
    return instances


def batches_of(config: dict[str, Any], instances: list[Instance]) -> Iterator[list[int]]:
    """The instances of each batch in an epoch, as the configuration's data loader draws them."""
    random.seed(0)
    loader = config["data_loader"]
    if "batch_sampler" in loader:
        sampler = BatchSampler.from_params(Params(deepcopy(loader["batch_sampler"])))
        yield from map(list, sampler.get_batch_indices(instances))
    else:
        numbers = random.sample(range(len(instances)), len(instances))
        size = loader["batch_size"]
        yield from (numbers[start : start + size] for start in range(0, len(numbers), size))


def first_sentences(config: dict[str, Any], instance: Instance, count: int) -> Instance:
    """
    An instance of the first sentences of its document: training draws as many, anywhere in it.
    """
    reader = DatasetReader.from_params(Params(deepcopy(config["dataset_reader"])))
    window = reader.text_to_instance(cut_document(instance["document"].metadata, count))
    reader.apply_token_indexers(window)
    return window


def cut_document(document: CorefDocument, count: int) -> CorefDocument:
    words = sum(map(len, document.sentences[:count]))
    clusters = [
        [mention for mention in cluster if mention.end <= words] for cluster in document.clusters
    ]
    return document._replace(
        sentences=document.sentences[:count],
        speakers=document.speakers[:count],
        clusters=[cluster for cluster in clusters if len(cluster) > 1],
    )
