"""Composed configurations build the right task models, in addition to `tests/tasks/contract.py`."""

import pytest
import torch

from tests.experiments.configs import DATA, elmo_at, model_and_batch, parameters, small_config


@pytest.mark.parametrize("placements", [[], ["input"]], ids=str)
def test_l2_of_snli_penalises_lstms_and_layers_next_to_lambda(placements: list[str]) -> None:
    config = small_config("snli", elmo_at(placements), "l2=0.01")
    model, _ = model_and_batch(config, DATA["snli"])
    mixes = parameters(model, "scalar_mix.weights").values()
    lstms = [
        weight for name, weight in model.named_parameters() if "weight_ih" in name or "weight_hh" in name
    ]
    layers = [model.projection, model.classifier]
    matrices = [*lstms, model.output_logits.weight, *(layer._linear_layers[0].weight for layer in layers)]
    assert len(mixes) == len(placements) and len(lstms) == 2 * 4
    with torch.no_grad():
        for weight in mixes:
            weight.uniform_(-1, 1)
        expected = 0.1 * sum(map(squared_norm, mixes)) + 0.01 * sum(map(squared_norm, matrices))
        assert float(model.get_regularization_penalty()) == pytest.approx(float(expected))


def squared_norm(weight: torch.Tensor) -> torch.Tensor:
    return weight.double().square().sum()
