import allennlp.modules.scalar_mix as peer
import pytest
import torch

from elmo_plugin.bilm import BiLmError
from elmo_plugin.migration.allennlp_api.elmo import AllenNlpScalarMix as ScalarMix


@pytest.mark.parametrize("do_layer_norm", [False, True])
@pytest.mark.parametrize("values", [None, [0.5, -1.0, 2.0], [-9e10, 1, -9e10]])
def test_values_names_and_gradients_equal_allennlps(
    do_layer_norm: bool, values: list[float] | None
) -> None:
    ours = ScalarMix(3, do_layer_norm, values, trainable=values is None)
    theirs = peer.ScalarMix(3, do_layer_norm, values, trainable=values is None)
    layers = torch.randn(3, 2, 4, 5)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    outputs = [ours(layers, mask), theirs(list(layers), mask)]
    torch.testing.assert_close(*outputs, atol=1e-6, rtol=1e-6)
    pairs = list(zip(ours.named_parameters(), theirs.named_parameters(), strict=True))
    for (name, parameter), (their_name, their_parameter) in pairs:
        assert name == their_name
        assert torch.equal(parameter, their_parameter)
        assert parameter.requires_grad == their_parameter.requires_grad
    if values is None:
        for output in outputs:
            output.pow(3).sum().backward()
        for (_, parameter), (_, their_parameter) in pairs:
            torch.testing.assert_close(parameter.grad, their_parameter.grad, atol=1e-4, rtol=1e-4)


def test_a_wrong_number_of_layers_or_a_missing_mask_is_refused() -> None:
    with pytest.raises(BiLmError, match="expected 3 layers, got 2"):
        ScalarMix(3)(torch.randn(2, 2, 4, 5))
    with pytest.raises(BiLmError, match=r"expected 3 finite numbers, got \[1, 2\]"):
        ScalarMix(3, initial_scalar_parameters=[1, 2])
    with pytest.raises(BiLmError, match="needs the mask"):
        ScalarMix(3, do_layer_norm=True)(torch.randn(3, 2, 4, 5))


@pytest.mark.parametrize("values", [[float("nan")] * 3, [float("inf"), 0.0, 0.0]])
def test_infinite_values_are_named_in_the_error(values: list[float]) -> None:
    with pytest.raises(
        BiLmError, match=r"scalar mix parameters: expected 3 finite numbers, got \["
    ):
        ScalarMix(3, initial_scalar_parameters=values)
    state = {
        f"scalar_parameters.{number}": torch.tensor([value]) for number, value in enumerate(values)
    }
    with pytest.raises(BiLmError, match=r"scalar_parameters.0 has (NaN|an infinite number) in it"):
        ScalarMix(3).load_state_dict({**state, "gamma": torch.ones(1)})
