"""What ELMo's placements and options in a composed configuration do to the model of each task."""

import json

import pytest
import torch
from allennlp.models import Model

from elmo_plugin.bilm import BiLm
from tests.experiments.configs import (
    DATA,
    ELMO_DIM,
    elmo_at,
    model_and_batch,
    parameters,
    small_config,
)

TASKS = list(DATA)
PLACEMENTS = [["input"], ["output"], ["input", "output"]]
SIZE_OF_INPUT = {  # of what the words' vectors enter, and of what the encoder's output enters
    "ner": lambda model: (
        model.contextual_encoder.encoder.get_input_dim(),
        model.tag_projection.weight.size(1),
    ),
    "snli": lambda model: (
        model.contextual_encoder.encoder.get_input_dim(),
        model.projection.get_input_dim() / 4,
    ),
    "sst": lambda model: (
        model.contextual_encoder.feedforward.get_input_dim(),
        model.integrator.get_input_dim() / 3,
    ),
}


def bilms(model: Model) -> list[BiLm]:
    return [module for module in model.modules() if isinstance(module, BiLm)]


@pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_each_placement_widens_what_it_enters_changes_the_loss_and_learns_its_mix(
    task: str, placements: list[str]
) -> None:
    baseline, _ = model_and_batch(small_config(task, "elmo.none"), DATA[task])
    with_elmo = small_config(task, elmo_at(placements, "lambda=0.1, layer_norm=true"))
    model, batch = model_and_batch(with_elmo, DATA[task])
    before, after = SIZE_OF_INPUT[task](baseline), SIZE_OF_INPUT[task](model)
    wider = [after[side] - before[side] for side in range(2)]
    assert wider == [ELMO_DIM * ("input" in placements), ELMO_DIM * ("output" in placements)]
    assert model.contextual_encoder.get_output_dim() == after[1]

    loss = model(**batch)["loss"]
    loss.backward()
    weights, gammas = parameters(model, "scalar_mix.weights"), parameters(model, "scalar_mix.gamma")
    assert len(weights) == len(gammas) == len(placements)
    for name, weight in (weights | gammas).items():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
    for name, gamma in gammas.items():
        with torch.no_grad():
            gamma.zero_()
            assert not torch.isclose(model(**batch)["loss"], loss), name
            gamma.fill_(1)


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_the_bilm_gets_a_gradient_only_if_it_is_to_be_trained(task: str, requires_grad: bool) -> None:
    at = elmo_at(["input", "output"], f"requires_grad={json.dumps(requires_grad)}")
    model, batch = model_and_batch(small_config(task, at), DATA[task])
    model(**batch)["loss"].backward()
    assert len(bilms(model)) == (2 if requires_grad else 1)
    gradients = [weight.grad is not None for bilm in bilms(model) for weight in bilm.parameters()]
    assert all(gradients) if requires_grad else not any(gradients)


@pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_the_bilm_runs_once_for_all_texts_and_placements(task: str, placements: list[str]) -> None:
    model, batch = model_and_batch(small_config(task, elmo_at(placements)), DATA[task])
    (bilm,) = bilms(model)
    bilm.memo.forget()  # what models of other tests, not yet collected, have left there
    runs: list[None] = []
    bilm.register_forward_hook(lambda *_: runs.append(None))
    model(**batch)
    assert len(runs) == 1


AT_BOTH = elmo_at(["input", "output"])
AT_INPUT = f"{elmo_at(['input'])} + {elmo_at(['output'], 'lambda=0')}"
AT_OUTPUT = f"{elmo_at(['input'], 'lambda=0')} + {elmo_at(['output'], 'lambda=2')}"


@pytest.mark.parametrize(
    ("at", "strengths"),
    [
        (AT_BOTH, {"input": 0.1, "output": 0.1}),
        (AT_INPUT, {"input": 0.1, "output": 0}),
        (AT_OUTPUT, {"input": 0, "output": 2}),
    ],
    ids=["both", "input", "output"],
)
@pytest.mark.parametrize("task", TASKS)
def test_lambda_penalises_the_mixing_weights_of_the_placements_named_and_nothing_else(
    task: str, at: str, strengths: dict[str, float]
) -> None:
    options = "l2=0" if task == "snli" else ""
    model, _ = model_and_batch(small_config(task, at, options), DATA[task])
    expected = 0.0
    for name, weight in parameters(model, "scalar_mix.weights").items():
        torch.nn.init.uniform_(weight, -1, 1)
        squares = sum(value**2 for value in weight.tolist())
        expected += strengths["output" if "output_elmo" in name else "input"] * squares
    assert model.get_regularization_penalty().item() == pytest.approx(expected)


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
