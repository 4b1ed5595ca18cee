import allennlp.modules.scalar_mix as peer
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.embedding.representations import ScalarMix
from tests.close import assert_near


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=5), st.floats(-3, 3), st.integers(0, 1000))
def test_equals_the_formula_in_float64_and_allennlp(
    weights: list[float], gamma: float, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    layers = torch.randn(len(weights), 2, 3, 4, generator=generator)
    mix = ScalarMix(len(weights))
    theirs = peer.ScalarMix(len(weights), initial_scalar_parameters=weights)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor(weights))
        mix.gamma.fill_(gamma)
        theirs.gamma.fill_(gamma)
    shares = torch.tensor(weights, dtype=torch.float64).exp()
    shares = shares / shares.sum()
    formula = gamma * sum(
        share * layer.double() for share, layer in zip(shares, layers, strict=True)
    )
    assert_near(mix(layers), formula)
    assert_near(mix(layers), theirs(list(layers)))


def test_a_weight_of_zero_excludes_a_layer_and_stays_finite() -> None:
    mix = ScalarMix(3, initial_weights=[0, 1, 0])
    layers = torch.randn(3, 2, 3, 4)
    torch.testing.assert_close(mix(layers), layers[1])
    mix(layers).sum().backward()
    assert mix.weights.isfinite().all() and mix.weights.grad.isfinite().all()


@pytest.mark.parametrize(
    "shares",
    [[0.5, 0.5], [0, 0, 0], [1, -1, 1], [1, 2, 3], [1e39, 1, 1], [1, float("nan"), 1], ["a", 1, 1]],
)
def test_invalid_mixing_weights_are_refused(shares: list) -> None:
    with pytest.raises(BiLmError, match="3 numbers"):
        ScalarMix(3, initial_weights=shares)


@pytest.mark.parametrize("name", ["weights", "gamma"])
def test_a_state_with_nan_is_refused_naming_the_parameter(name: str) -> None:
    state = ScalarMix(3).state_dict()
    state[name] = state[name] * float("nan")
    with pytest.raises(BiLmError, match=f"the tensor elmo.{name} has NaN in it"):
        nn.ModuleDict({"elmo": ScalarMix(3)}).load_state_dict(
            {f"elmo.{key}": state[key] for key in state}
        )
