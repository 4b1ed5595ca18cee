"""All mistakes of a configuration are found without making its parts."""

# fmt: off

from typing import Any, List  # noqa: UP035

import pytest
from allennlp.commands import train
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.models import Model

from elmo_plugin import hardening, plugin  # noqa: F401 (register and replace)
from elmo_plugin.config_check import mistakes
from tests.migration.porting.public_configs import Config

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


def test_a_valid_configuration_has_no_mistakes() -> None:
    assert mistakes(VALID) == []


@pytest.mark.parametrize(("changes", "found"), [({"trainer__nonsense": 1},
    ["trainer.nonsense: unknown key of resumable"]), ({"model__encoder__type": "lstmm"},
    ["model.encoder.type: 'lstmm' is not registered; did you mean "
"'lstm'?"]), ({"model__type": "bcn"},
    ["model.type: 'bcn' is not registered: list its package"]), ({"model__encoder": {"type": "lstm",
    "hidden_size": 5}}, ["model.encoder.input_size: is "
"required"]), ({"trainer__optimizer": {"type": "adam",
    "lr": []}}, ["trainer.optimizer.lr: expected a number, found []"]),
    ({"model__encoder__hidden_size": "5", "trainer__optimizer__lr": "x",
    "data_loader__batch_size": "\ue000N\ue002", "trainer__cuda_device": "-1"},
    ["model.encoder.hidden_size: expected a whole number, found text",
    "data_loader.batch_size: expected a whole number, found text",
    "trainer.cuda_device: expected a whole number, found text",
    "trainer.optimizer.lr: expected a number, found 'x'"]), ({"dataset_reader__lazy": True},
    ["dataset_reader.lazy: unknown key of conll2003"]), ({"model__encoder__bidirectional": "yes",
    "model__encoder__num_layers": 1.5, "model__calculate_span_f1": "true", "model__label_namespace": 3,
    "datasets_for_vocab_creation": "train", "model__encoder__hiden_size": 1,
    "model__text_field_embedder": []},
    ["model.encoder.bidirectional: expected true or false, found 'yes'",
    "model.encoder.num_layers: expected a whole number, found 1.5",
    "model.calculate_span_f1: expected true or false, found text",
    "model.label_namespace: expected text, found 3",
    "datasets_for_vocab_creation: expected a list, found 'train'",
    "model.encoder.hiden_size: unknown key of lstm; did you mean 'hidden_size'?",
    "model.text_field_embedder: expected an object or the name of a type, found []"]),
    ({"trainer__num_epochs": 0, "data_loader__batch_size": -1},
    ["trainer.num_epochs: expected at least 1, found 0", "data_loader.batch_size: expected at "
"least 1"]),
    ({"model__encoder__dropout": 1.5}, ["model.encoder.dropout: expected a rate from 0 to 1, "
"found 1.5"]),
    ({"model__encoder__dropout": -1}, ["model.encoder.dropout: expected a rate from 0 to 1, "
"found -1"]),
    ({"data_loader__batch_sampler": {"type": "bucket", "batch_size": 2}},
    ["data_loader.batch_size: the batch sampler decides it"]),
    ({"trainer__learning_rate_scheduler": {"gamma": 0.5}},
    ["trainer.learning_rate_scheduler.type: is required"]),
    ({"trainer__learning_rate_scheduler": {"type": "exponential"}}, []),
    ({"trainor": {}},
    ["trainor: unknown key; did you mean 'trainer'?"]), ({"include_in_archive": ["x.txt"],
    "model__initializer": {"regexes": [[".*", {"type": "normal", "mean": "0"}]]}},
    ["model.initializer.regexes.0.1.mean: expected a number, found "
"text"]), ({"model__encoder__type": []},
    ["model.encoder.type: expected text, found []"]), ({"model__encoder__type": "\ue000KIND\ue002"}, []),
    ({"model": {"type": "a_users_own", "token_embedders": [{"type": "bert-pretrained"}]}},
    ["model.type: 'a_users_own' is not registered",
    "model.token_embedders.0.type: 'bert-pretrained' was removed: take "
"pretrained_transformer_mismatched"])])
def test_all_mistakes_are_found(changes: Any, found: list[str]) -> None:
    texts = [str(mistake) for mistake in mistakes(changed(**changes))]
    assert len(texts) == len(found)
    assert sorted(texts) == sorted(text for text in texts for start in found if text.startswith(start))


@Model.register("takes_some")
class TakesSome(Model):
    def __init__(self, vocab: Any, sizes: List, **kwargs: Any) -> None:  # noqa: UP006
        super().__init__(vocab, **{name: kwargs[name] for name in kwargs if name != "extra"})


@Model.register("reads_all")
class ReadsAll(Model):
    @classmethod
    def from_params(cls, params: Any, **_: Any) -> Any:
        return params


@Model.register("counts_in_words")
class CountsInWords(Model):
    def __init__(self, vocab: Any, batch_size: str, dropout: str) -> None:
        super().__init__(vocab)


@pytest.mark.parametrize("model", [{"type": "takes_some", "sizes": [1, "a"], "extra": 3},
    {"type": "reads_all", "x": 3}, {"type": "counts_in_words", "batch_size": "all", "dropout": "none"}])
def test_arguments_that_a_users_class_may_accept_are_no_mistake(model: Any) -> None:
    assert mistakes(changed(model=model)) == []


@pytest.mark.parametrize(("changes", "message"), [({"trainer__nonsense": 1, "trainer__other": 2},
    r"^trainer.nonsense: unknown key of resumable; trainer.other: unknown key of resumable$"),
    ({"trainer__num_serialized_models_to_keep": 2},
    r"^trainer.num_serialized_models_to_keep: now `checkpointer.keep_most_recent.*elmo port"),
    ({"model__encoder__type": "intra_sentence_attention"},
    r"^model.encoder.type: .* was removed: "), ({"model__regularizer": [],
    "iterator": {"type": "basic"}}, r"^model.regularizer: .* elmo port$"),
    ({"model__encoder__hidden_size": "5", "trainer__optimizer__lr": "0.1"},
    r"^model.encoder.hidden_size: expected a whole number, .*trainer.optimizer.lr: .*std.parseJson")])
def test_mistakes_end_a_hardened_training_with_one_sentence(changes: Any, message: str, tmp_path: Any) -> None:
    with pytest.raises(ConfigurationError, match=message):
        train.train_model(Params(changed(**changes)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_missing_spacy_model_is_reported_and_not_downloaded() -> None:
    message = r"^spaCy's model 'en_core_web_sm' is not installed: .*\"spacy_rules\""
    with pytest.raises(ConfigurationError, match=message):
        DatasetReader.from_params(Params({"type": "text_classification_json", "tokenizer": "spacy"}))
