"""The configurations for SNLI: what they are composed of, and what ELMo's placements do to the model."""

import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.common.testing import ModelTestCase

from elmo_plugin.bilm import BiLm
from tests.experiments.configs import (
    BILM,
    FIXTURES,
    PLACEMENTS,
    REPOSITORY,
    model_and_batch,
    parameters,
    read_config,
)

PAIRS = FIXTURES / "snli" / "pairs.jsonl"
WORD_DIM, HIDDEN, ELMO_DIM = 5, 4, 12


def small_config(
    placements: list[str], options: str = "lambda=0.1, layer_norm=true", l2: float = 0.0
) -> dict[str, Any]:
    """A config of `lib/snli.libsonnet` with ELMo at the placements, small, and without dropout."""
    expression = f"""
        local elmo = import 'training_config/lib/elmo.libsonnet';
        local snli = import 'training_config/lib/snli.libsonnet';
        local words = import 'training_config/lib/words.libsonnet';
        snli(
          data='{PAIRS.parent}', train='{PAIRS.name}', dev='{PAIRS.name}', batch_size=2, epochs=1,
          words=words.learned(dim={WORD_DIM}, min_count=1), hidden={HIDDEN}, dropout=0, l2={l2},
        ) + elmo.at({json.dumps(placements)}, bilm={json.dumps(BILM)}, dropout=0, {options})
    """
    return json.loads(_jsonnet.evaluate_snippet(str(REPOSITORY / "test.jsonnet"), expression))


@pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
def test_a_placement_makes_what_it_enters_wider_by_elmo(placements: list[str]) -> None:
    model, _ = model_and_batch(small_config(placements), PAIRS)
    encoder, inputs, outputs = model.contextual_encoder, "input" in placements, "output" in placements
    assert encoder.encoder.get_input_dim() == WORD_DIM + inputs * ELMO_DIM
    assert encoder.get_output_dim() == 2 * HIDDEN + outputs * ELMO_DIM
    assert model.projection.get_input_dim() == 4 * encoder.get_output_dim()


@pytest.mark.parametrize("placements", PLACEMENTS[1:], ids=str)
def test_each_placement_changes_the_loss_and_learns_its_mix(placements: list[str]) -> None:
    model, batch = model_and_batch(small_config(placements), PAIRS)
    loss = model(**batch)["loss"]
    loss.backward()
    weights, gammas = parameters(model, "scalar_mix.weights"), parameters(model, "scalar_mix.gamma")
    assert len(weights) == len(gammas) == len(placements)
    for name, weight in (weights | gammas).items():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
    for gamma in gammas.values():
        value = gamma.detach().clone()
        with torch.no_grad():
            gamma.zero_()
            assert not torch.isclose(model(**batch)["loss"], loss)
            gamma.copy_(value)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_bilm_gets_a_gradient_only_if_it_is_to_be_trained(requires_grad: bool) -> None:
    options = f"requires_grad={json.dumps(requires_grad)}"
    model, batch = model_and_batch(small_config(["input", "output"], options), PAIRS)
    model(**batch)["loss"].backward()
    bilms = [module for module in model.modules() if isinstance(module, BiLm)]
    assert len(bilms) == (2 if requires_grad else 1)
    gradients = [weight.grad is not None for bilm in bilms for weight in bilm.parameters()]
    assert all(gradients) if requires_grad else not any(gradients)


@pytest.mark.parametrize("placements", PLACEMENTS[1:], ids=str)
def test_the_bilm_runs_once_for_premises_and_hypotheses_and_all_placements(placements: list[str]) -> None:
    model, batch = model_and_batch(small_config(placements), PAIRS)
    (bilm,) = (module for module in model.modules() if isinstance(module, BiLm))
    bilm.memo.forget()  # what models of other tests, not yet collected, have left there
    runs: list[None] = []
    bilm.register_forward_hook(lambda *_: runs.append(None))
    model(**batch)
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("placements", "strength", "l2"),
    [(["output"], 0.1, 0), (["input", "output"], 0.1, 0), ([], 0, 0.01), (["input"], 0.1, 0.01)],
    ids=str,
)
def test_lambda_and_l2_penalise_exactly_the_weights_named(
    placements: list[str], strength: float, l2: float
) -> None:
    model, _ = model_and_batch(small_config(placements, f"lambda={strength}", l2), PAIRS)
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
        expected = strength * sum(map(squared_norm, mixes)) + l2 * sum(map(squared_norm, matrices))
        assert float(model.get_regularization_penalty()) == pytest.approx(float(expected))


def squared_norm(weight: torch.Tensor) -> torch.Tensor:
    return weight.double().square().sum()


class TestTraining(ModelTestCase):
    """AllenNLP's own checks of a model."""

    def set_up(self, placements: list[str]) -> Path:
        config = self.TEST_DIR / "config.json"
        in_order = {"data_loader": {"batch_size": 2, "shuffle": False}}
        config.write_text(json.dumps(small_config(placements) | in_order))
        self.set_up_model(config, PAIRS)
        return config

    @pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
    def test_can_train_save_and_load(self, placements: list[str]) -> None:
        self.ensure_model_can_train_save_and_load(self.set_up(placements))

    @pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
    def test_predictions_do_not_depend_on_the_batch(self, placements: list[str]) -> None:
        self.set_up(placements)
        self.ensure_batch_predictions_are_consistent()


@pytest.mark.parametrize(
    ("variant", "placements"),
    [("elmo", {"input", "output"}), ("elmo_input", {"input"}), ("elmo_output", {"output"})],
)
def test_an_elmo_experiment_is_the_baseline_with_elmo(variant: str, placements: set[str]) -> None:
    config, baseline = (read_config(f"experiments/snli_{name}.jsonnet") for name in (variant, "baseline"))
    encoder = config["model"]["contextual_encoder"]
    found = {
        "input": encoder["text_field_embedder"]["token_embedders"].pop("elmo", None),
        "output": encoder.pop("output_elmo", None),
    }
    assert {placement for placement, elmo in found.items() if elmo} == placements
    assert all(elmo["bilm"] == "tiny" and elmo["layer_norm"] for elmo in found.values() if elmo)
    assert config["dataset_reader"]["token_indexers"].pop("elmo") == {"type": "elmo"}
    own = baseline["model"]["regularizer"]["regexes"]
    penalties = config["model"]["regularizer"].pop("regexes")
    assert penalties[: len(own)] == own and len(penalties) == len(own) + len(placements)
    assert all(penalty == {"type": "l2", "alpha": 0.001} for _, penalty in penalties[len(own) :])
    del baseline["model"]["regularizer"]["regexes"]
    assert config == baseline


def test_the_paper_configuration_has_the_papers_sizes() -> None:
    config = read_config("training_config/snli.jsonnet", SNLI="snli", WORD_VECTORS="glove.txt")
    model = config["model"]
    encoder = model["contextual_encoder"]
    embedders = encoder["text_field_embedder"]["token_embedders"]
    lstm = {"type": "variational_bilstm", "hidden_sizes": [300], "dropout": 0.5}
    layer = {"num_layers": 1, "hidden_dims": 300, "activations": "relu"}
    assert encoder["encoder"] == model["inference_encoder"] == lstm
    assert model["projection"] == model["classifier"] == layer
    assert model["dropout"] == 0.5
    assert embedders["tokens"]["embedding_dim"] == 300 and not embedders["tokens"]["trainable"]
    for elmo in (embedders["elmo"], encoder["output_elmo"]):
        assert (elmo["bilm"], elmo["layers"], elmo["layer_norm"]) == ("original", "all", True)
    strengths = [penalty["alpha"] for _, penalty in model["regularizer"]["regexes"]]
    assert strengths == [0.0001, 0.001, 0.001]
    assert config["trainer"]["optimizer"] == {"type": "adam", "lr": 0.0004}
    assert config["trainer"]["grad_norm"] == 5.0
    assert config["data_loader"]["batch_sampler"]["batch_size"] == 32
    assert config["train_data_path"] == "snli/snli_1.0_train.jsonl"
    assert config["test_data_path"] == "snli/snli_1.0_test.jsonl"
