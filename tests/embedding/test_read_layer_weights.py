"""The mixes that are read from the weights of a model."""

import math

import pytest
import torch
from torch import nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.formats.torch_files import EXTRA_STATE
from elmo_plugin.embedding import ElmoRepresentations, LayerWeights, read_layer_weights
from elmo_plugin.embedding.archive import ElmoMetadata
from elmo_plugin.embedding.contextual_elmo import ContextualElmo, ElmoPlacement
from elmo_plugin.embedding.representations import ScalarMix
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from tests.trained_bilm import random_bilm


def set_mix(mix: nn.Module, weights: list[float], gamma: float) -> None:
    assert isinstance(mix, ScalarMix)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor(weights).log() + 5)  # what is added to all has no effect
        mix.gamma.fill_(gamma)


def assert_is(
    mix: LayerWeights, placement: str, layers: list[int], weights: list[float], gamma: float
) -> None:
    assert (mix.placement, mix.layers) == (placement, layers)
    assert mix.normalized_weights == pytest.approx(weights, rel=1e-5)
    assert mix.gamma == pytest.approx(gamma)
    assert math.fsum(mix.normalized_weights) == pytest.approx(1)


def test_the_mixed_layers_of_both_placements_are_read(bilm_files: dict[str, str]) -> None:
    elmo = ContextualElmo(bilm_files, input=ElmoPlacement(), output=ElmoPlacement(layers=[2, 0]))
    set_mix(elmo.mixes["input"].scalar_mix, [0.2, 0.5, 0.3], 1.5)
    set_mix(elmo.mixes["output"].scalar_mix, [0.9, 0.1], -2.0)
    model = nn.ModuleDict({"contextual_encoder": nn.ModuleDict({"elmo": elmo})})
    at_input, at_output = read_layer_weights(model.state_dict())
    assert_is(at_input, "input", [0, 1, 2], [0.2, 0.5, 0.3], 1.5)
    assert_is(at_output, "output", [2, 0], [0.9, 0.1], -2.0)


def test_the_mixed_layers_of_an_elmo_outside_a_model_are_read(bilm_files: dict[str, str]) -> None:
    elmo = ContextualElmo(bilm_files, output=ElmoPlacement(layers=[2, 0]))
    (mix,) = read_layer_weights(elmo.state_dict())
    assert_is(mix, "output", [2, 0], [0.5, 0.5], 1.0)


def test_placements_of_the_same_kind_are_named_after_their_modules(
    bilm_files: dict[str, str],
) -> None:
    model = nn.ModuleDict(
        {
            "one": ElmoTokenEmbedder(bilm_files),
            "top": ElmoTokenEmbedder(bilm_files, layers="top"),
            "elmo": ContextualElmo(bilm_files, output=ElmoPlacement()),
        }
    )
    mixes = read_layer_weights(model.state_dict())
    names = ["one._elmo.mixes.input", "top._elmo.mixes.input", "output"]
    assert [mix.placement for mix in mixes] == names
    assert mixes[1].layers == [2]


def test_the_mixes_of_an_elmo_in_plain_torch_are_numbered() -> None:
    model = nn.ModuleDict({"elmo": ElmoRepresentations(random_bilm(), num_mixes=2)})
    mixes = read_layer_weights(model.state_dict())
    assert [mix.placement for mix in mixes] == ["elmo.mixes.0", "elmo.mixes.1"]
    assert_is(mixes[1], "elmo.mixes.1", [0, 1, 2], [1 / 3] * 3, 1.0)


def test_weights_of_another_programs_mix_are_not_read(bilm_files: dict[str, str]) -> None:
    others = nn.ModuleDict({"scalar_mix": nn.Module()})
    others["scalar_mix"].weights = nn.Parameter(torch.ones(2))
    model = nn.ModuleDict({"elmo": ContextualElmo(bilm_files, input=ElmoPlacement()), "o": others})
    assert [mix.placement for mix in read_layer_weights(model.state_dict())] == ["input"]


@pytest.mark.parametrize("layers", [{}, {"output": [0, 1, 2]}, {"input": [0, 1]}])
def test_metadata_that_do_not_fit_a_mix_are_an_error(
    layers: dict[str, list[int]], bilm_files: dict[str, str]
) -> None:
    elmo = ContextualElmo(bilm_files, input=ElmoPlacement())
    state = elmo.state_dict()
    metadata = ElmoMetadata.from_tensor(state[EXTRA_STATE])
    state[EXTRA_STATE] = metadata._replace(layers=layers).to_tensor()
    with pytest.raises(BiLmError, match="expected 3 layers of input"):
        read_layer_weights(state)


@pytest.mark.parametrize("name", ["weights", "gamma"])
@pytest.mark.parametrize(
    "damage", [None, "x", torch.ones(2, 2), torch.tensor([float("nan")]), torch.zeros(0, 1)]
)
def test_a_damaged_mix_is_refused(name: str, damage: object) -> None:
    mix = nn.ModuleDict({"scalar_mix": ScalarMix(3)})
    state = nn.ModuleDict({"mixes": mix}).state_dict()
    state[f"mixes.scalar_mix.{name}"] = damage
    with pytest.raises(BiLmError, match="mixes"):
        read_layer_weights(state)
