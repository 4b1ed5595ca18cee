from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.data.fields.text_field import TextFieldTensors
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.modules import TextFieldEmbedder, TokenEmbedder

from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder, ElmoTokenIndexer
from tests.close import assert_near

SENTENCES = [["The", "play", "."], ["Play"], ["A", "play", "by", "children"]]


def text_field(words: list[str], indexer: TokenIndexer | None = None) -> TextField:
    indexers = {"elmo": indexer or ElmoTokenIndexer(), "words": SingleIdTokenIndexer()}
    return TextField([Token(word) for word in words], indexers)


def tensors(fields: list[TextField] | list[ListField]) -> TextFieldTensors:
    batch = Batch([Instance({"tokens": field}) for field in fields])
    batch.index_instances(Vocabulary())
    return batch.as_tensor_dict()["tokens"]


def elmo_tokens(sentences: list[list[str]], indexer: TokenIndexer | None = None) -> torch.Tensor:
    return tensors([text_field(words, indexer) for words in sentences])["elmo"]["elmo_tokens"]


def embedder(bilm: dict[str, str], **options: Any) -> TokenEmbedder:
    return TokenEmbedder.from_params(Params({"type": "elmo", "bilm": dict(bilm), **options}))


def test_an_embedder_is_made_from_params_with_every_option(bilm_files: dict[str, str]) -> None:
    made = embedder(
        bilm_files,
        layers=[1, 2],
        layer_norm=True,
        dropout=0.1,
        requires_grad=True,
        stateful=True,
        mixing_weights=[0.25, 0.75],
    )
    assert isinstance(made, ElmoTokenEmbedder)
    assert made.get_output_dim() == 10
    assert made(elmo_tokens(SENTENCES)).shape == (3, 4, 10)


def text_field_embedder(bilm_files: dict[str, str]) -> TextFieldEmbedder:
    token_embedders = {
        "elmo": {"type": "elmo", "bilm": dict(bilm_files)},
        "words": {"type": "embedding", "embedding_dim": 3, "num_embeddings": 10},
    }
    return TextFieldEmbedder.from_params(Params({"token_embedders": token_embedders})).eval()


def test_an_embedder_works_next_to_word_vectors_and_in_nested_fields(
    bilm_files: dict[str, str],
) -> None:
    text_embedder = text_field_embedder(bilm_files)
    assert text_embedder.get_output_dim() == 13
    flat = text_embedder(tensors([text_field(words) for words in SENTENCES]))
    nested = tensors(
        [ListField([text_field(words) for words in SENTENCES]), ListField([text_field(["Hi"])])]
    )
    wrapped = text_embedder(nested, num_wrapping_dims=1)
    assert wrapped.shape == (2, 3, 4, 13)
    assert_near(wrapped[0, :, :, :10], flat[:, :, :10])


def test_options_that_do_not_fit_the_bilm_are_configuration_errors(
    bilm_files: dict[str, str],
) -> None:
    with pytest.raises(ConfigurationError, match="a layer from 0 to 2"):
        embedder(bilm_files, layers=3)
    with pytest.raises(ConfigurationError, match="mixing weights: expected 2 numbers"):
        embedder(bilm_files, layers=[0, 1], mixing_weights=[1.0])
    with pytest.raises(ConfigurationError, match="one of float32, bfloat16, int8, got 'float16'"):
        embedder(bilm_files, precision="float16")
    with pytest.raises(ConfigurationError, match="a biLM is fine-tuned in float32, not in int8"):
        embedder(bilm_files, precision="int8", requires_grad=True)


@pytest.mark.parametrize("size", [0, None])
def test_chunks_without_room_are_refused_before_the_bilm_is_loaded(size: int | None) -> None:
    with pytest.raises(ConfigurationError, match="max_batch_tokens: expected "):
        embedder({"options": "none", "weights": "none"}, max_batch_tokens=size)
