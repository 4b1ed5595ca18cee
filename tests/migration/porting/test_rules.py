"""Rules for old configurations: each public structure is valid afterwards, and valid ones stay."""

# fmt: off

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest
from allennlp.data import BatchSampler
from allennlp.data.samplers import MaxTokensBatchSampler
from hypothesis import given
from hypothesis import strategies as st

import elmo_plugin.register  # noqa: F401
from elmo_plugin.config_check import mistakes
from elmo_plugin.migration.porting import note_on_first_old_key, port_config
from elmo_plugin.migration.porting.rules import RULES
from elmo_plugin.migration.porting.trainer import TRAINER_KEYS
from tests.conftest import REPOSITORY
from tests.experiments.configs import read_config
from tests.migration.porting.public_configs import CONFIGS, Config

OTHER_PACKAGES = re.compile("is not registered|was removed")


@pytest.mark.parametrize("make", CONFIGS.values(), ids=list(CONFIGS))
def test_ported_public_configurations_are_valid(make: Callable[[], Config]) -> None:
    old = make()
    before = copy.deepcopy(old)
    new, notes = port_config(old)
    assert old == before
    left = [
        str(each) for each in mistakes(new) if each.number is ... and not OTHER_PACKAGES.search(each.reason)
    ]
    assert left == []
    assert port_config(new) == (new, [])
    assert all(note.text for note in notes)


def test_public_configurations_are_recognized_as_old() -> None:
    assert [name for name, make in CONFIGS.items() if note_on_first_old_key(make()) is None] == []


EXPERIMENTS = sorted(path.name for path in (REPOSITORY / "experiments").glob("*_elmo.jsonnet"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_configurations_of_this_repository_are_not_changed(name: str) -> None:
    config = read_config(f"experiments/{name}")
    assert mistakes(config) == []
    assert port_config(config) == (config, [])


def ported(**parts: Any) -> Config:
    return port_config(parts)[0]


@pytest.mark.parametrize(("old", "new"), [({"type": "basic"}, {"batch_size": 32, "shuffle": True}),
    ("basic", {"batch_size": 32, "shuffle": True}), ({"type": "bucket", "batch_size": 4,
    "sorting_keys": [["a", "num_tokens"], ["a", "num_characters"]]}, {"batch_sampler": {"type": "bucket",
    "batch_size": 4, "sorting_keys": ["a"]}}), ({"type": "bucket", "batch_size": 4, "padding_noise": 0.0,
    "skip_smaller_batches": True}, {"batch_sampler": {"type": "bucket", "batch_size": 4,
    "padding_noise": 0.0, "drop_last": True}}), ({"type": "bucket", "batch_size": 4,
    "maximum_samples_per_batch": ["num_tokens", 90]}, {"batch_sampler": {"type": "max_tokens_sampler",
    "max_tokens": 90}}), ({"type": "basic", "batch_size": 4, "instances_per_epoch": 10,
    "max_instances_in_memory": 7}, {"batch_size": 4, "shuffle": True, "batches_per_epoch": 3,
    "max_instances_in_memory": 7}), ({"type": "multiprocess", "base_iterator": {"type": "basic",
    "batch_size": 4}, "num_workers": 2}, {"batch_size": 4, "shuffle": True}),
    ({"type": "multiprocess", "base_iterator": "basic"}, {"batch_size": 32, "shuffle": True})])
def test_iterators_become_data_loaders(old: Any, new: Config) -> None:
    assert ported(validation_iterator=old) == {"validation_data_loader": new}


@pytest.mark.parametrize(("old", "text"), [
    ({"iterator": {"batch_size": 4, "maximum_samples_per_batch": ["num_tokens", 90]}},
    "to be done: iterator.maximum_samples_per_batch: now `max_tokens` alone"),
    ({"dataset_reader": {"type": "conll2003", "coding_scheme": "IOB1"}},
    "dataset_reader.coding_scheme: now the default")])
def test_removed_options_are_reported(old: Config, text: str) -> None:
    assert [str(note) for note in port_config(old)[1] if str(note).startswith(text)]


def test_sorting_keys_of_an_iterator_without_counterpart_are_listed_as_to_be_done() -> None:
    iterator = {"type": "homogeneous_batch", "sorting_keys": [["tokens", "num_tokens"]]}
    _, notes = port_config({"iterator": iterator})
    assert "to be done: iterator.sorting_keys: removed" in [str(note) for note in notes]


@pytest.mark.parametrize(("kind", "text"), [("homogeneous_batch", "'homogeneous_batch' was "
"removed; batches"),
    ("ie_batch", "'ie_batch' is not AllenNLP's: write it as a `BatchSampler`; batches")])
def test_an_iterator_without_counterpart_is_listed_as_to_be_done(kind: str, text: str) -> None:
    config, notes = port_config({"iterator": {"type": kind, "batch_size": 4}})
    assert config == {"data_loader": {"batch_size": 4, "shuffle": True}}
    assert [str(note) for note in notes if note.kind == "left"] == [
        f"to be done: iterator: {text} are made at random for now"
    ]


@pytest.mark.parametrize(("old", "new"), [({"num_serialized_models_to_keep": 3},
    {"checkpointer": {"keep_most_recent_by_count": 3}}), ({"num_serialized_models_to_keep": -1},
    {"checkpointer": {"keep_most_recent_by_count": None}}), ({"model_save_interval": 9,
    "num_serialized_models_to_keep": 1}, {"checkpointer": {"keep_most_recent_by_count": 1,
    "save_every_num_seconds": 9}}), ({"checkpointer": {"num_serialized_models_to_keep": 2,
    "keep_serialized_model_every_num_seconds": 9}}, {"checkpointer": {"keep_most_recent_by_count": 2}}),
    ({"should_log_learning_rate": True, "histogram_interval": 9, "callbacks": ["x"]},
    {"callbacks": [{"type": "tensorboard", "should_log_learning_rate": True, "distribution_interval": 9,
    "should_log_parameter_statistics": True}, "x"]}),
    ({"opt_level": "O1"}, {"use_amp": True}), ({"opt_level": None}, {"use_amp": False}),
    ({"type": "default", "cuda_device": 0, "no_tqdm": True}, {}), ({"cuda_device": [1]},
    {"cuda_device": 1}), ({"cuda_device": -1}, {"cuda_device": -1}),
    ({"epoch_callbacks": ["track_epoch_callback"]}, {"callbacks": ["track_epoch_callback"]}),
    ({"type": "callback", "callbacks": [{"type": "moving_average", "decay": 0.9}, "validate"]},
    {"moving_average": {"decay": 0.9}}), ({"optimizer": {"type": "bert_adam", "lr": 1}},
    {"optimizer": {"type": "huggingface_adamw", "lr": 1, "eps": 1e-6, "weight_decay": 0.01,
    "correct_bias": False}}),
    ({"tensorboard_writer": {"histogram_interval": 9}}, {"callbacks": [{"type": "tensorboard",
    "distribution_interval": 9, "should_log_parameter_statistics": True}]})])
def test_trainer_keys_are_ported(old: Config, new: Config) -> None:
    assert ported(trainer=old) == {"trainer": new}


def test_trainer_keys_can_move_to_the_data_loader() -> None:
    old = {"iterator": {"type": "bucket", "batch_size": 4}, "trainer": {"shuffle": False,
        "gradient_accumulation_batch_size": 10, "cuda_device": [0, 1]}}
    assert port_config(old)[0] == {"data_loader": {"batch_sampler": {"type": "bucket", "batch_size": 4,
        "shuffle": False}}, "trainer": {"num_gradient_accumulation_steps": 3,
        "checkpointer": {"keep_most_recent_by_count": 20}},
        "distributed": {"cuda_devices": [0, 1]}}


def test_options_are_left_out_of_a_sampler_that_lacks_them() -> None:
    iterator = {"type": "bucket", "maximum_samples_per_batch": ["num_tokens", 200],
        "skip_smaller_batches": True}
    new, notes = port_config({"iterator": iterator, "trainer": {"shuffle": False}})
    sampler = new["data_loader"]["batch_sampler"]
    kind = sampler.pop("type")
    assert isinstance(BatchSampler.by_name(kind)(**sampler), MaxTokensBatchSampler)  # takes all options
    left = [note.place for note in notes if note.kind == "left"]
    assert {"trainer.shuffle", "iterator.skip_smaller_batches"} <= set(left)


@pytest.mark.parametrize(("old", "new"), [({"directory_path": "d"}, {"type": "from_files",
    "directory": "d"}), ({"directory_path": "d", "extend": True}, {"type": "extend", "directory": "d"}),
    ({"extend": False, "min_count": {"tokens": 2}}, {"min_count": {"tokens": 2}})])
def test_vocabulary_keys_are_ported(old: Config, new: Config) -> None:
    assert ported(vocabulary=old) == {"vocabulary": new}


SPACY = {"type": "spacy", "pos_tags": False}


@pytest.mark.parametrize(("old", "new"), [({"type": "word", "word_splitter": {"type": "just_spaces"}},
    {"type": "just_spaces"}), ({"word_splitter": "simple", "word_stemmer": "pass_through"},
    {"type": "old_words", "splitter": "simple"}), ({"type": "word", "word_splitter": {"type": "bert-basic",
    "do_lower_case": False, "never_split": None}, "start_tokens": []}, {"type": "old_words",
    "splitter": "bert-basic", "do_lower_case": False}), ({"word_splitter": {"type": "just_spaces"},
    "end_tokens": ["@"]}, {"type": "old_words", "splitter": "just_spaces", "end_tokens": ["@"]}),
    ({"type": "word", "end_tokens": ["@"]}, SPACY | {"end_tokens": ["@"]}), ("word", SPACY),
    ({"word_splitter": {"pos_tags": True}}, SPACY | {"pos_tags": True}),
    ({"type": "character", "end_tokens": [1]}, {"type": "character", "end_tokens": [1]})])
def test_word_splitters_become_tokenizers(old: Any, new: Any) -> None:
    assert ported(dataset_reader={"source_tokenizer": old}) == {"dataset_reader": {"source_tokenizer": new}}


def test_options_that_changed_the_words_are_listed_as_to_be_done() -> None:
    old = {"word_splitter": "openai", "word_stemmer": {"type": "porter"}, "word_filter": "stopwords"}
    notes = port_config({"dataset_reader": {"tokenizer": old}})[1]
    assert [note.place.rpartition(".")[2] for note in notes if str(note).startswith("to be done: ")] == [
        "tokenizer", "word_filter", "word_stemmer"]


READER = {"token_indexers": {"words": {"type": "single_id"}, "ids": {}, "bert": {}}}
ELMO: Config = {"type": "elmo"}


@pytest.mark.parametrize(("mapping", "embedders", "indexers", "left"), [
    # Names of weights have the embedder's name: the indexer takes it.
    ({"tokens": ["words"], "bert": ["bert", None, "bert-offsets"]}, {"tokens": ELMO,
    "bert": ELMO, "ids": {"type": "empty"}}, {"tokens": {"type": "single_id"}, "ids": {}, "bert": {}}, []),
    ({"tokens": ["words"], "more": "words"}, {"tokens": ELMO, "more": ELMO, "ids": {"type": "empty"},
    "bert": {"type": "empty"}}, {"tokens": {"type": "single_id"}, "more": {"type": "single_id"}, "ids": {},
    "bert": {}}, []),
    ({"tokens": ["gone"]}, None, READER["token_indexers"], ["it took gone"]),
    ({"tokens": ["words", "bert-offsets"]}, None, READER["token_indexers"],
    ["it took words, bert-offsets"])])
def test_indexers_are_renamed_after_their_embedders(
    mapping: Config, embedders: Config | None, indexers: Config, left: list[str]
) -> None:
    part = {"allow_unmatched_keys": True, "embedder_to_indexer_map": mapping,
        "token_embedders": dict.fromkeys(mapping, ELMO)}
    new, notes = port_config({"dataset_reader": READER, "model": {"text_field_embedder": part}})
    assert new["dataset_reader"] == {"token_indexers": indexers}
    assert embedders is None or new["model"]["text_field_embedder"]["token_embedders"] == embedders
    assert [note.text.partition(";")[0] for note in notes if note.kind == "left"] == left


def test_two_embedders_of_a_model_may_read_the_same_renamed_indexer() -> None:
    part = {"embedder_to_indexer_map": {"tokens": ["words"]}, "token_embedders": {"tokens": ELMO}}
    config = {"dataset_reader": READER, "model": {"text_field_embedder": part, "other": {**part}}}
    new, notes = port_config(config)
    assert "tokens" in new["dataset_reader"]["token_indexers"]
    assert [note for note in notes if note.kind == "left"] == []
    renamed = [note.place for note in notes if "the indexer 'words' is now 'tokens'" in note.text]
    places = ["model.text_field_embedder", "model.other"]
    assert renamed == [f"{place}.embedder_to_indexer_map.tokens" for place in places]


def test_words_of_elmos_old_cache_do_not_add_an_indexer() -> None:
    part = {"embedder_to_indexer_map": {"tokens": ["words", "bert-offsets"]},
        "token_embedders": {"tokens": {"type": "elmo_token_embedder"}}}
    _, notes = port_config({"dataset_reader": READER, "model": {"text_field_embedder": part}})
    assert [note for note in notes if note.kind == "left"] == []


def test_a_classifier_with_only_elmo_gets_a_word_indexer() -> None:
    indexers = {"elmo": {"type": "elmo_characters"}}
    embedders = {"elmo": {"type": "elmo_token_embedder"}}
    model = {"type": "basic_classifier", "text_field_embedder": {"token_embedders": embedders}}
    config = {"dataset_reader": {"token_indexers": indexers}, "model": model}
    new, (note,) = port_config(config)
    assert new["dataset_reader"]["token_indexers"] == indexers | {"words": {"type": "single_id"}}
    assert new["model"]["text_field_embedder"]["token_embedders"] == embedders | {"words": {"type": "empty"}}
    assert note.place == "model.type" and port_config(new) == (new, [])


CHARACTERS = {"type": "character_encoding", "embedding": {"embedding_dim": 3}}
NORMAL: Config = {"type": "normal"}


@pytest.mark.parametrize(("old", "new"), [
    ({"iterator": {}, "model": {"a": CHARACTERS, "b": {"type": "character_encoding",
    "embedding": {"num_embeddings": 9}}}}, {"a": {"type": "character_encoding", "embedding": {
    "embedding_dim": 3, "vocab_namespace": "token_characters"}}, "b": {"type": "character_encoding",
    "embedding": {"num_embeddings": 9}}}),
    ({"iterator": {}, "model": {"initializer": [["a", "normal"], ["b", NORMAL | {"std": 0.2}]]}},
    {"initializer": {"regexes": [["a", NORMAL | {"std": 1.0}], ["b", NORMAL | {"std": 0.2}]]}}),
    ({"trainer": {"no_tqdm": True}, "model": {"initializer": {"regexes": [["a", NORMAL]]}}},
    {"initializer": {"regexes": [["a", NORMAL]]}}),
    ({"iterator": {}, "model": {"type": "simple_seq2seq", "max_decoding_steps": 9}}, {"type":
    "simple_seq2seq", "beam_search": {"max_steps": 9, "beam_size": 1}}),
    ({"iterator": {}, "model": {"type": "crf_tagger"}, "trainer": {"validation_metric":
    "+f1-measure-overall"}}, {"type": "crf_tagger", "label_encoding": "BIO",
    "constrain_crf_decoding": False, "calculate_span_f1": True}),
    ({"iterator": {}, "model": {"type": "bidaf", "similarity_function": {"type": "bilinear",
    "tensor_1_dim": 2, "tensor_2_dim": 3}}}, {"type": "bidaf", "matrix_attention": {"type": "bilinear",
    "matrix_1_dim": 2, "matrix_2_dim": 3}})])
def test_former_defaults_are_written_out(old: Config, new: Config) -> None:
    config, notes = port_config(old)
    assert config["model"] == new
    assert all("AllenNLP" in note.text for note in notes if "default" in note.text)


def test_a_trainer_of_version_0_kept_20_checkpoints_on_the_cpu() -> None:
    trainer = {"cuda_device": -1, "checkpointer": {"keep_most_recent_by_count": 20}}
    assert ported(iterator={}, trainer={})["trainer"] == trainer
    assert ported(iterator={}, trainer={"cuda_device": 0})["trainer"] == {
        "checkpointer": {"keep_most_recent_by_count": 20}}
    assert ported(data_loader={"pin_memory": True}, trainer={}) == {"data_loader": {"batch_size": 1},
        "trainer": {}}


def test_prevented_and_nested_initializers_are_ported() -> None:
    old = {"initializer": [["a", {"type": "zero"}], ["b", "prevent"], ["c", {"type": "prevent"}]]}
    new = {"initializer": {"regexes": [["a", {"type": "zero"}]], "prevent_regexes": ["b", "c"]}}
    assert ported(model={"encoder": old}) == {"model": {"encoder": new}}


values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8)


@given(st.dictionaries(st.sampled_from(["model", "x", "trainer", "vocabulary", "data_loader"]), values))
def test_current_keys_keep_their_order(config: Config) -> None:
    new, notes = port_config(config)
    assert (new, notes) == (config, [])
    assert list(new) == list(config)


OLD_KEYS = ["iterator", "validation_iterator", "data_loader", "dataset_reader", "lazy", "tokenizer",
    "model", "vocabulary", "text_field_embedder", "token_embedders", "embedder_to_indexer_map",
    "initializer", "similarity_function", "trainer", "callbacks", "cuda_device", "optimizer", "type",
    "sorting_keys", "batch_sampler", "checkpointer", *TRAINER_KEYS]
odd = st.recursive(st.none() | st.integers(-3, 3) | st.sampled_from(["bucket", "word", "callback", "legacy",
    "esim"]), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(OLD_KEYS), inner,
    max_size=5), max_leaves=20)


@given(st.dictionaries(st.sampled_from(OLD_KEYS), odd))
def test_values_of_unexpected_form_are_ported_or_named(config: Config) -> None:
    before = copy.deepcopy(config)
    new, notes = port_config(config)
    assert config == before
    assert new == config or notes


def test_a_legacy_attention_without_a_function_is_a_dot_product() -> None:
    attention = {"type": "legacy", "similarity_function": None}
    config, _ = port_config({"model": {"attention": attention, "other_attention": {"type": "legacy"}}})
    assert config == {"model": {"attention": {"type": "dot_product"}, "other_attention": {"type": "dot_product"}}}


def test_a_rule_that_fails_leaves_no_note_of_a_change() -> None:
    without_second_size = {"type": "bilinear", "tensor_1_dim": 2}
    attention = {"type": "legacy", "similarity_function": without_second_size}
    config, notes = port_config({"model": {"matrix_attention": attention}})
    assert config["model"]["matrix_attention"] == attention
    assert [str(note) for note in notes] == [
        "to be done: legacy attention, sizes of bilinear: not ported: unexpected value"
    ]


def test_iterators_of_batches_without_examples_are_left_as_they_are() -> None:
    iterator = {"type": "basic", "batch_size": 0, "instances_per_epoch": 100}
    config, notes = port_config({"iterator": iterator})
    assert config["iterator"] == iterator
    assert "not ported: unexpected value" in [note.text for note in notes]


def test_the_page_shows_the_table_of_rules() -> None:
    page = (REPOSITORY / "docs" / "port.md").read_text(encoding="utf-8")
    rows = [f"| {rule.old} | {rule.new} |" for rule in RULES]
    assert "\n".join(["| before | AllenNLP 2.10.1 |", "| --- | --- |", *rows]) + "\n" in page
