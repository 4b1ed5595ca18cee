"""What makes an old archive compute as before, in its configuration."""

from typing import Any

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.migration.porting.computations import keep_state, port_computations
from elmo_plugin.migration.porting.config import Config, Porting
from elmo_plugin.migration.porting.rules import port_config
from tests.migration.porting.public_configs import (
    CHARACTERS,
    CONFIGS,
    EMBEDDER,
    decomposable_attention,
    of_version_1,
)

CNN: Config = {"type": "cnn", "embedding_dim": 3, "num_filters": 2}
VERSION_0: Config = {"iterator": {"type": "basic"}}


def as_archive(old: Config) -> Porting:
    """Returns what `elmo port` makes of the configuration of an archive."""
    porting = Porting(old)
    porting.config, porting.notes = port_config(old)
    port_computations(porting)
    keep_state(porting)
    return porting


def texts(porting: Porting, place: str) -> list[str]:
    return [note.text for note in porting.notes if note.place == place]


def test_the_cnn_of_version_0_reads_padding() -> None:
    model = {"type": "crf_tagger", "characters": CHARACTERS, "seq2vec_encoder": CNN}
    porting = as_archive(VERSION_0 | {"model": model})
    assert porting.config["model"]["characters"]["encoder"]["type"] == "old_cnn"
    assert porting.config["model"]["seq2vec_encoder"] == CNN | {"type": "old_cnn"}
    (text,) = texts(porting, "model.seq2vec_encoder.type")
    assert text.startswith("now 'old_cnn', of elmo_plugin.plugin")


def test_the_cnn_of_version_1_stays_with_a_word_on_its_first_versions() -> None:
    model = {"type": "crf_tagger", "seq2vec_encoder": CNN}
    porting = as_archive({"data_loader": {"batch_size": 2}, "model": model})
    assert porting.config["model"] == model
    (text,) = texts(porting, "model.seq2vec_encoder")
    assert "1.0 to 1.2" in text


def test_a_configuration_for_a_new_training_uses_allennlps_cnn() -> None:
    config, _ = port_config(VERSION_0 | {"model": {"seq2vec_encoder": CNN}})
    assert config["model"] == {"seq2vec_encoder": CNN}


TWO_TEXTS = ["bidaf", "bidaf, 1.x", "esim", "decomposable attention", "dialog qa"]
ONE_TEXT = ["ner", "ner, flat", "ner, 1.x", "simple tagger", "bcn, both, 1.x", "srl", "srl, 1.x"]


@pytest.mark.parametrize("name", TWO_TEXTS)
def test_a_model_of_several_texts_carries_the_state_between_them(name: str) -> None:
    porting = as_archive(CONFIGS[name]())
    place = "model.text_field_embedder.token_embedders.elmo"
    elmo = porting.config["model"]["text_field_embedder"]["token_embedders"]["elmo"]
    assert elmo["stateful"] == "call"
    (text,) = texts(porting, f"{place}.stateful")
    assert text.startswith("now 'call'")


@pytest.mark.parametrize("name", ONE_TEXT)
def test_a_model_of_one_text_needs_no_state(name: str) -> None:
    porting = as_archive(CONFIGS[name]())
    assert not any("stateful" in part for _, part in porting.objects())


def test_an_explicit_stateful_option_is_kept() -> None:
    model = {"type": "esim", "elmo": {**EMBEDDER, "stateful": False}}
    porting = as_archive({"model": model})
    assert porting.config["model"]["elmo"]["stateful"] is False


def cached(words: Any, embedder: Config | None = None, indexer: Config | None = None) -> Config:
    elmo = {"type": "elmo_token_embedder", "namespace_to_cache": "words", **(embedder or {})}
    mapped = {"embedder_to_indexer_map": {"elmo": words, "tokens": ["tokens"]}}
    embedders = {"elmo": elmo, "tokens": {"type": "embedding"}}
    indexers = {"elmo": {"type": "elmo_characters"}, "tokens": {"type": "single_id"}}
    indexers["tokens"] |= indexer or {}
    return VERSION_0 | {
        "dataset_reader": {"type": "snli", "token_indexers": indexers},
        "model": {
            "type": "crf_tagger",
            "text_field_embedder": {"token_embedders": embedders, **mapped},
        },
    }


@pytest.mark.parametrize("words", [["elmo", "tokens"], {"inputs": "elmo", "word_inputs": "tokens"}])
@pytest.mark.parametrize("is_lowercased", [False, True])
def test_cached_words_get_an_indexer_of_the_vocabularys_characters(
    words: Any, is_lowercased: bool
) -> None:
    indexer = {"lowercase_tokens": True} if is_lowercased else None
    porting = as_archive(cached(words, indexer=indexer))
    assert porting.config["dataset_reader"]["token_indexers"]["elmo"] == {
        "type": "old_cached_elmo_characters",
        "vocabulary_namespace": "words",
        "lowercase_tokens": is_lowercased,
    }
    elmo = porting.config["model"]["text_field_embedder"]["token_embedders"]["elmo"]
    assert elmo == {"type": "elmo_token_embedder"}


@pytest.mark.parametrize("words", [["elmo"], ["elmo", None], "elmo"])
def test_an_unused_cache_changes_nothing(words: Any) -> None:
    porting = as_archive(cached(words))
    indexers = porting.config["dataset_reader"]["token_indexers"]
    assert indexers["elmo"] == {"type": "elmo_characters"}


def test_trained_vectors_of_cached_words_are_refused() -> None:
    with pytest.raises(BiLmError, match="both were trained"):
        as_archive(cached(["elmo", "tokens"], {"requires_grad": True}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("prelu", {"type": "leaky_relu", "negative_slope": 0.25}),
        (["relu", "prelu"], ["relu", {"type": "leaky_relu", "negative_slope": 0.25}]),
        ("relu", "relu"),
    ],
)
def test_slopes_of_prelu_keep_their_place_from_version_0(old: Any, new: Any) -> None:
    layers = {"input_dim": 2, "num_layers": 2, "hidden_dims": 3, "activations": old}
    porting = as_archive(VERSION_0 | {"model": {"type": "esim", "feedforward": layers}})
    assert porting.config["model"]["feedforward"]["activations"] == new
    later = as_archive({"model": {"type": "esim", "feedforward": layers}})
    assert later.config["model"]["feedforward"]["activations"] == old


@pytest.mark.parametrize(
    ("config", "place", "words"),
    [
        ({"model": {"type": "bimpm"}}, "model", "label_probs"),
        ({"model": {"type": "qanet"}}, "model", "cannot be carried over"),
        (VERSION_0 | {"model": {"type": "srl"}}, "model", "before 0.9"),
        (VERSION_0 | {"dataset_reader": {"type": "ccgbank"}}, "dataset_reader", "original_pos"),
        (
            VERSION_0 | {"dataset_reader": {"type": "squad"}},
            "dataset_reader",
            "spaCy 3",
        ),
        (
            VERSION_0 | {"dataset_reader": {"type": "snli", "tokenizer": {"type": "word"}}},
            "dataset_reader",
            "spaCy 3",
        ),
    ],
)
def test_differences_are_reported(config: Config, place: str, words: str) -> None:
    (text,) = texts(as_archive(config), place)
    assert words in text


def test_words_between_spaces_are_split_alike_in_every_version() -> None:
    tokenizer = {"type": "word", "word_splitter": {"type": "just_spaces"}}
    reader = {"type": "snli", "tokenizer": tokenizer}
    assert texts(as_archive(VERSION_0 | {"dataset_reader": reader}), "dataset_reader") == []


def test_a_dot_product_can_be_scaled_as_before() -> None:
    old = decomposable_attention()
    old["model"]["similarity_function"]["scale_output"] = True
    assert port_config(old)[0]["model"]["matrix_attention"] == {"type": "old_scaled_dot_product"}
    old["model"]["similarity_function"]["scale_output"] = False
    assert port_config(old)[0]["model"]["matrix_attention"] == {"type": "dot_product"}


def test_configurations_of_version_1_get_only_the_defaults_of_that_version() -> None:
    old = of_version_1(decomposable_attention(), no_tqdm=True)
    old["model"]["characters"] = {"type": "character_encoding", "embedding": {"embedding_dim": 3}}
    old["dataset_reader"] = {"type": "coref", "max_span_width": 4}
    new, _ = port_config(old)
    assert new["model"]["characters"]["embedding"] == {"embedding_dim": 3}
    assert new["dataset_reader"] == {"type": "coref", "max_span_width": 4}
    of_version_0 = port_config(old | VERSION_0)[0]
    assert of_version_0["dataset_reader"]["remove_singleton_clusters"] is False
