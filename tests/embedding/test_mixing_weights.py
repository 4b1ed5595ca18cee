"""What is read from the weights of a model."""

import math

import pytest
import torch
from torch import nn

from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.embedding.mixing_weights import Mix, layer_name, read_mixes
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from tests.small_bilm import small_options
from tests.trained_bilm import random_bilm, write_training


@pytest.fixture
def bilm(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_training(tmp_path_factory.mktemp("bilm") / "run", random_bilm()))


def embedder(bilm: str, weights: list[float], gamma: float, **options) -> ElmoTokenEmbedder:
    made = ElmoTokenEmbedder(bilm, **options)
    mix = made._elmo.mixes[0].scalar_mix
    with torch.no_grad():
        mix.weights.copy_(torch.tensor(weights).log() + 5)  # what is added to all has no effect
        mix.gamma.fill_(gamma)
    return made


def model(**parts: nn.Module) -> nn.Module:
    """A model that has its ELMo where the task models have it."""
    embedders = {name: part for name, part in parts.items() if name.startswith("token_embedder_")}
    outputs = {name: part for name, part in parts.items() if name == "output_elmo"}
    encoder = nn.ModuleDict({"text_field_embedder": nn.ModuleDict(embedders), **outputs})
    return nn.ModuleDict({"contextual_encoder": encoder})


def assert_is(mix: Mix, placement: str, layers: list[int], weights: list[float], gamma: float) -> None:
    assert (mix.placement, mix.layers) == (placement, layers)
    assert mix.normalized_weights == pytest.approx(weights, rel=1e-5)
    assert mix.gamma == pytest.approx(gamma)
    assert math.fsum(mix.normalized_weights) == pytest.approx(1)


def test_both_placements_are_read_with_the_layers_that_they_mix(bilm: str) -> None:
    made = model(
        token_embedder_elmo=embedder(bilm, [0.2, 0.5, 0.3], 1.5),
        output_elmo=embedder(bilm, [0.9, 0.1], -2.0, layers=[2, 0]),
    )
    into, out = read_mixes(made.state_dict())
    assert_is(into, "input", [0, 1, 2], [0.2, 0.5, 0.3], 1.5)
    assert_is(out, "output", [2, 0], [0.9, 0.1], -2.0)


def test_placements_of_the_same_kind_are_told_apart_by_the_names_of_their_modules(bilm: str) -> None:
    made = model(
        token_embedder_elmo=embedder(bilm, [0.2, 0.5, 0.3], 1.0),
        token_embedder_top=embedder(bilm, [1.0], 2.0, layers="top"),
        output_elmo=embedder(bilm, [0.2, 0.5, 0.3], 3.0),
    )
    path = "contextual_encoder.text_field_embedder.token_embedder"
    mixes = read_mixes(made.state_dict())
    assert [mix.placement for mix in mixes] == [f"{path}_elmo", f"{path}_top", "output"]
    assert mixes[1].layers == [2]


def test_the_mixes_of_an_elmo_in_plain_torch_are_numbered() -> None:
    made = nn.ModuleDict({"elmo": ElmoRepresentations(random_bilm(), num_output_representations=2)})
    mixes = read_mixes(made.state_dict())
    assert [mix.placement for mix in mixes] == ["elmo.0", "elmo.1"]
    assert_is(mixes[1], "elmo.1", [0, 1, 2], [1 / 3] * 3, 1.0)


def test_a_model_without_elmo_has_no_mixes() -> None:
    assert read_mixes(nn.Linear(2, 3).state_dict()) == []


def test_layers_have_the_names_that_people_call_them_by() -> None:
    number_of_layers = small_options()["lstm"]["n_layers"] + 1
    assert [layer_name(number) for number in range(number_of_layers)] == ["token", "LSTM 1", "LSTM 2"]
