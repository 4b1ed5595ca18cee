"""All mistakes of a configuration are found without making its parts."""

# fmt: off

from typing import Any

import pytest
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader

import elmo_plugin.hardening
import elmo_plugin.register
from elmo_plugin.porting.check import mistakes
from tests.porting.public_configs import Config

VALID: Config = {"dataset_reader": {"type": "conll2003", "tag_label": "pos"},
    "train_data_path": "absent.txt", "model": {"type": "simple_tagger",
    "text_field_embedder": {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 3}}},
    "encoder": {"type": "lstm", "input_size": 3, "hidden_size": 5}}, "data_loader": {"batch_size": 2},
    "trainer": {"optimizer": {"type": "adam", "lr": 0.1}, "num_epochs": 1}}


def changed(**changes: Any) -> Config:
    config: Config = Params(VALID).duplicate().as_dict(quiet=True)
    for path, value in changes.items():
        *parents, last = path.split("__")
        part: Any = config
        for parent in parents:
            part = part[parent]
        part[last] = value
    return config


def test_a_valid_configuration_has_none() -> None:
    assert mistakes(VALID) == []


@pytest.mark.parametrize(("changes", "found"), [({"trainer__nonsense": 1},
    ["trainer.nonsense: gradient_descent does not take this key"]), ({"model__encoder__type": "lstmm"},
    ["model.encoder.type: 'lstmm' is not registered"]), ({"model__type": "bcn"},
    ["model.type: 'bcn' is not registered: list its package"]), ({"model__encoder": {"type": "lstm",
    "hidden_size": 5}}, ["model.encoder.input_size: is required"]), ({"trainer__optimizer": {"type": "adam",
    "lr": []}}, []), ({"model__encoder__hidden_size": "5", "trainer__optimizer__lr": "x",
    "data_loader__batch_size": "\ue000N\ue002", "trainer__cuda_device": "-1"},
    ["model.encoder.hidden_size: expected a number, found text",
    "data_loader.batch_size: expected a number, found text",
    "trainer.cuda_device: expected a number, found text",
    "trainer.optimizer.lr: expected a number, found 'x'"]), ({"dataset_reader__lazy": True},
    ["dataset_reader.lazy: conll2003 does not take this key"])])
def test_all_mistakes_are_found(changes: Any, found: list[str]) -> None:
    texts = [str(mistake) for mistake in mistakes(changed(**changes))]
    assert len(texts) == len(found)
    assert sorted(texts) == sorted(text for text in texts for start in found if text.startswith(start))


@pytest.mark.parametrize(("changes", "message"), [({"trainer__nonsense": 1, "trainer__other": 2},
    r"^trainer.nonsense, trainer.other: .* does not take this key$"),
    ({"trainer__num_serialized_models_to_keep": 2},
    r"^trainer.num_serialized_models_to_keep: now `checkpointer.keep_most_recent.*elmo port"),
    ({"model__encoder__type": "intra_sentence_attention"},
    r"^model.encoder.type: .* was removed: .* elmo port$"), ({"model__regularizer": [],
    "iterator": {"type": "basic"}}, r"^model.regularizer: .* elmo port$"),
    ({"model__encoder__hidden_size": "5", "trainer__optimizer__lr": "0.1"},
    r"^model.encoder.hidden_size, trainer.optimizer.lr: expected a number, .*std.parseJson")])
def test_training_with_hardening_ends_in_one_sentence(changes: Any, message: str, tmp_path: Any) -> None:
    params = Params(changed(**changes))
    with pytest.raises(ConfigurationError, match=message):
        TrainModel.from_params(params, serialization_dir=str(tmp_path), local_rank=0)


def test_a_model_of_spacy_that_cannot_be_downloaded_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise SystemExit(1)

    monkeypatch.setattr(elmo_plugin.hardening, "GET_SPACY_MODEL", fail)
    message = r"^tokenizer: spaCy's model en_core_web_sm is not installed: .*\"spacy_rules\""
    with pytest.raises(ConfigurationError, match=message):
        DatasetReader.from_params(Params({"type": "text_classification_json", "tokenizer": "spacy"}))
