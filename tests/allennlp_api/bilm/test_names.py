from typing import Any

import pytest
import torch

from elmo_plugin.allennlp_api.bilm import AllenNlpBiLm, published_options, to_allennlp
from elmo_plugin.bilm import BiLm, BiLmOptions
from tests.small_bilm import small_options

SIZES: list[dict[str, Any]] = [
    {},
    {"char_cnn": {"n_highway": 0, "filters": [[3, 2]]}},
    {"char_cnn": {"n_highway": 3}, "lstm": {"n_layers": 1, "projection_dim": 3, "dim": 8}},
]


def random_weights(options: BiLmOptions) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return {name: torch.randn_like(tensor) for name, tensor in BiLm(options).state_dict().items()}


@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_all_weights_are_converted_in_whatever_order_they_come(changes: dict[str, Any]) -> None:
    options = BiLmOptions.from_dict(small_options(**changes))
    weights = list(random_weights(options).items())
    theirs = dict(to_allennlp(weights, options))
    assert {name: tensor.shape for name, tensor in theirs.items()} == {
        name: tensor.shape for name, tensor in AllenNlpBiLm(options).state_dict().items()
    }
    for name, tensor in to_allennlp(reversed(weights), options):
        assert torch.equal(tensor, theirs.pop(name))
    assert theirs == {}


def test_each_is_converted_as_soon_as_all_that_it_is_made_of_has_come() -> None:
    options = BiLmOptions.from_dict(small_options())
    converted = to_allennlp(iter(random_weights(options).items()), options)
    assert next(converted)[0] == "_token_embedder._char_embedding_weights"


def test_others_are_left_as_they_are() -> None:
    options = BiLmOptions.from_dict(small_options())
    assert dict(to_allennlp([("other", torch.ones(1))], options)).keys() == {"other"}


@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_the_options_of_a_published_bilm_are_known_from_its_weights(changes: dict[str, Any]) -> None:
    options = BiLmOptions.from_dict(small_options(**changes))
    assert options == published_options(dict(to_allennlp(random_weights(options).items(), options)))
