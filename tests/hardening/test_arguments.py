"""Values that AllenNLP would ignore, or fail at without naming them."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import evaluate
from allennlp.common import Params, params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.data.samplers import BatchSampler
from allennlp.modules import TokenEmbedder

from elmo_plugin import hardening, plugin  # noqa: F401 (hardening acts when imported)
from elmo_plugin.encoders import VariationalBiLstm
from tests.trained_tagger import tagger_config, train


def test_a_training_without_an_epoch_is_refused(tmp_path: Path) -> None:
    config = tagger_config("tiny", ["input"])
    config["trainer"]["num_epochs"] = 0
    with pytest.raises(ConfigurationError, match="num_epochs must be at least 1, not 0"):
        train(config, tmp_path / "run")


@pytest.mark.parametrize("config", [{"batch_size": 0}, {"type": "multiprocess", "batch_size": -3}])
def test_a_loader_of_no_instances_is_refused(config: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="batch_size must be at least 1"):
        DataLoader.from_params(Params(config), reader=None, data_path="")


@pytest.mark.parametrize(
    "config", [{"type": "bucket", "batch_size": 0}, {"type": "max_tokens_sampler", "max_tokens": 0}]
)
def test_a_sampler_of_no_instances_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="must be at least 1, not 0"):
        BatchSampler.from_params(Params(config))


@pytest.mark.parametrize(
    "options", [{"min_count": {"words": -1}}, {"max_vocab_size": 0}, {"max_vocab_size": {"words": 0}}]
)
def test_a_vocabulary_with_negative_counts_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"Vocabulary: m.* must be at least"):
        Vocabulary({"words": {"a": 1}}, **options)


@pytest.mark.parametrize("overrides", ["[]", "3", '"a"', "{", "{a: }"])
def test_overrides_that_are_no_object_are_refused(overrides: str) -> None:
    with pytest.raises(ConfigurationError, match="the overrides "):
        params.parse_overrides(overrides)


def test_overrides_are_read_as_before() -> None:
    assert params.parse_overrides("{a: 1 + 1}") == {"a": 2} and params.parse_overrides("") == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file has no word vectors"),
        (b"the 1.0 x\n", "not a file of word vectors"),
        (b"the 1.0 nan\n", "not a file of word vectors"),
        (b"cat 1.0 2.0\n", "No embeddings of correct dimension found"),
        (b"the 1.0 \xff\n", "not a file of word vectors"),
    ],
)
def test_a_file_of_word_vectors_that_is_none_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "glove.txt"
    file.write_bytes(content)
    config = {"type": "embedding", "embedding_dim": 2, "pretrained_file": str(file)}
    with pytest.raises(ConfigurationError) as raised:
        TokenEmbedder.from_params(Params(config), vocab=Vocabulary({"tokens": {"the": 1}}))
    assert str(file) in str(raised.value) and message in str(raised.value)


@pytest.mark.parametrize("sizes", [[], [3, 0]])
def test_an_encoder_without_layers_is_refused(sizes: list[int]) -> None:
    with pytest.raises(ConfigurationError, match="hidden_sizes must have the size of each layer"):
        VariationalBiLstm(3, sizes)


@pytest.mark.parametrize(
    ("sampler", "sizes"),
    [
        ({"type": "bucket", "batch_size": 3, "sorting_keys": ["tokens"]}, {1}),
        (None, {1}),
        ({"type": "max_tokens_sampler", "max_tokens": 9}, None),
    ],
)
def test_the_batch_size_of_evaluate_is_that_of_the_sampler(
    sampler: dict[str, Any] | None, sizes: set[int] | None
) -> None:
    config = tagger_config("tiny")
    reader = DatasetReader.from_params(Params(config["dataset_reader"]))
    loader = Params({} if sampler is None else {"batch_sampler": sampler})
    loader["batch_size"] = 1  # as AllenNLP puts it there
    make = partial(evaluate.DataLoader.from_params, params=loader, reader=reader)
    if sizes is None:
        with pytest.raises(ConfigurationError, match="'max_tokens_sampler' has no batch_size"):
            make(data_path=config["validation_data_path"])
        return
    data = make(data_path=config["validation_data_path"])
    data.index_with(Vocabulary.from_instances(data.iter_instances()))
    assert {len(batch["words"]) for batch in data} == sizes
