from typing import Any

import pytest
import torch

from elmo_plugin.allennlp_api.state_dict_names import published_options, take_from_allennlp, to_allennlp
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
def test_names_there_and_back_lead_to_the_same_weights(changes: dict[str, Any]) -> None:
    options = BiLmOptions.from_dict(small_options(**changes))
    weights = random_weights(options)
    theirs = to_allennlp(weights, options)
    back = take_from_allennlp(theirs, options)
    assert theirs == {}
    assert back.keys() == weights.keys()
    for name, tensor in back.items():
        torch.testing.assert_close(tensor, weights[name], atol=1e-6, rtol=0)


def test_what_is_not_of_the_bilm_is_not_taken() -> None:
    options = BiLmOptions.from_dict(small_options())
    theirs = to_allennlp(random_weights(options), options) | {"other": torch.ones(1)}
    take_from_allennlp(theirs, options)
    assert theirs.keys() == {"other"}


@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_the_options_of_a_published_bilm_are_known_from_its_weights(changes: dict[str, Any]) -> None:
    options = BiLmOptions.from_dict(small_options(**changes))
    assert options == published_options(to_allennlp(random_weights(options), options))
