"""The sentiment configurations: what they are composed of, and what ELMo's placements do to the model."""

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

TREES = FIXTURES / "sst" / "trees.txt"
WORD_DIM, HIDDEN, ELMO_DIM = 5, 8, 12


def evaluate(expression: str) -> dict[str, Any]:
    """What a configuration would be that consists of `expression`."""
    libraries = "".join(
        f"local {name} = import 'training_config/lib/{name}.libsonnet';" for name in ("elmo", "sst", "words")
    )
    return json.loads(_jsonnet.evaluate_snippet(str(REPOSITORY / "test.jsonnet"), libraries + expression))


def small_config(placements: list[str], options: str = "lambda=0.1") -> dict[str, Any]:
    """With ELMo at the placements, small, and without dropout."""
    return evaluate(
        f"""
        sst(data='{TREES.parent}', train='trees.txt', dev='trees.txt', hidden={HIDDEN}, dropout=0,
            words=words.learned(dim={WORD_DIM}, min_count=1), batch_size=3, epochs=1)
        + elmo.at({json.dumps(placements)}, bilm={json.dumps(BILM)}, dropout=0, {options})
        """
    )


@pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
def test_a_placement_makes_what_it_enters_wider_by_elmo(placements: list[str]) -> None:
    model, _ = model_and_batch(small_config(placements), TREES)
    encoder, inputs, outputs = model.contextual_encoder, "input" in placements, "output" in placements
    assert encoder.feedforward.get_input_dim() == WORD_DIM + inputs * ELMO_DIM
    assert encoder.get_output_dim() == 2 * HIDDEN + outputs * ELMO_DIM
    assert model.integrator.get_input_dim() == 3 * encoder.get_output_dim()


@pytest.mark.parametrize("placements", PLACEMENTS[1:], ids=str)
def test_each_placement_changes_the_loss_and_learns_its_mix(placements: list[str]) -> None:
    model, batch = model_and_batch(small_config(placements), TREES)
    loss = model(**batch)["loss"]
    loss.backward()
    weights, gammas = parameters(model, "scalar_mix.weights"), parameters(model, "scalar_mix.gamma")
    assert len(weights) == len(gammas) == len(placements)
    for name, weight in (weights | gammas).items():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
    for name in gammas:
        without_one, _ = model_and_batch(small_config(placements), TREES)
        with torch.no_grad():
            without_one.get_parameter(name).zero_()
            assert not torch.isclose(without_one(**batch)["loss"], loss), name


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_bilm_gets_a_gradient_only_if_it_is_to_be_trained(requires_grad: bool) -> None:
    options = f"requires_grad={json.dumps(requires_grad)}"
    model, batch = model_and_batch(small_config(["input", "output"], options), TREES)
    model(**batch)["loss"].backward()
    bilms = [module for module in model.modules() if isinstance(module, BiLm)]
    assert len(bilms) == (2 if requires_grad else 1)
    gradients = [weight.grad is not None for bilm in bilms for weight in bilm.parameters()]
    assert all(gradients) if requires_grad else not any(gradients)


@pytest.mark.parametrize("placements", PLACEMENTS[1:], ids=str)
def test_the_bilm_runs_once_for_a_batch(placements: list[str]) -> None:
    model, batch = model_and_batch(small_config(placements), TREES)
    (bilm,) = (module for module in model.modules() if isinstance(module, BiLm))
    bilm.memo.forget()  # what models of other tests, not yet collected, have left there
    runs: list[None] = []
    bilm.register_forward_hook(lambda *_: runs.append(None))
    model(**batch)
    assert len(runs) == 1


def test_lambda_penalises_the_mixing_weights_of_the_placements_named_and_nothing_else() -> None:
    at = f"bilm={json.dumps(BILM)}, dropout=0"
    for options, strengths in (
        (f"elmo.at(['input', 'output'], {at}, lambda=0.1)", {"input": 0.1, "output": 0.1}),
        (f"elmo.at(['input'], {at}, lambda=0.1) + elmo.at(['output'], {at})", {"input": 0.1, "output": 0}),
        (f"elmo.at(['input'], {at}) + elmo.at(['output'], {at}, lambda=2)", {"input": 0, "output": 2}),
    ):
        config = evaluate(
            f"sst(data='d', hidden=3, words=words.learned(dim={WORD_DIM}, min_count=1)) + {options}"
        )
        model, _ = model_and_batch(config, TREES)
        expected = 0.0
        for name, weight in parameters(model, "scalar_mix.weights").items():
            torch.nn.init.uniform_(weight, -1, 1)
            squares = sum(value**2 for value in weight.tolist())
            expected += strengths["output" if "output_elmo" in name else "input"] * squares
        assert model.get_regularization_penalty().item() == pytest.approx(expected)


class TestTraining(ModelTestCase):
    """AllenNLP's own checks of a model."""

    def set_up(self, placements: list[str]) -> Path:
        # Buckets are drawn anew each time: there would be no same batch to compare.
        config = self.TEST_DIR / "config.json"
        config.write_text(json.dumps(small_config(placements) | {"data_loader": {"batch_size": 3}}))
        self.set_up_model(config, TREES)
        return config

    @pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
    def test_can_train_save_and_load(self, placements: list[str]) -> None:
        self.ensure_model_can_train_save_and_load(self.set_up(placements))

    @pytest.mark.parametrize("placements", PLACEMENTS, ids=str)
    def test_predictions_do_not_depend_on_the_batch(self, placements: list[str]) -> None:
        self.set_up(placements)
        self.ensure_batch_predictions_are_consistent()


@pytest.mark.parametrize("length", ["null", "1", "4"])
def test_only_training_has_phrases_and_all_else_is_the_same_in_validation(length: str) -> None:
    mixins = "words.none() + words.learned(dim=7) + elmo.at(['input'], bilm='tiny')"
    config = evaluate(f"sst(data='d', binary=true, min_phrase_length={length}) + {mixins}")
    assert config["dataset_reader"].pop("min_phrase_length") == json.loads(length)
    assert config["validation_dataset_reader"].pop("min_phrase_length") is None
    assert config["validation_dataset_reader"] == config["dataset_reader"]
    assert config["dataset_reader"]["token_indexers"].keys() == {"tokens", "elmo"}
    assert config["dataset_reader"]["binary"]


@pytest.mark.parametrize(
    ("variant", "placements"),
    [("elmo", {"input", "output"}), ("elmo_input", {"input"}), ("elmo_output", {"output"})],
)
def test_an_elmo_experiment_is_the_baseline_with_elmo(variant: str, placements: set[str]) -> None:
    config, baseline = (read_config(f"experiments/sst_{name}.jsonnet") for name in (variant, "baseline"))
    encoder = config["model"]["contextual_encoder"]
    found = {
        "input": encoder["text_field_embedder"]["token_embedders"].pop("elmo", None),
        "output": encoder.pop("output_elmo", None),
    }
    assert {placement for placement, elmo in found.items() if elmo} == placements
    assert all(elmo["bilm"] == "tiny" for elmo in found.values() if elmo)
    for reader in ("dataset_reader", "validation_dataset_reader"):
        assert config[reader]["token_indexers"].pop("elmo") == {"type": "elmo"}
    penalties = config["model"].pop("regularizer")["regexes"]
    assert [penalty for _, penalty in penalties] == [{"type": "l2", "alpha": 0.001}] * len(placements)
    assert config == baseline


def test_the_paper_configuration_has_the_papers_sizes() -> None:
    config = read_config("training_config/sst.jsonnet", SST="sst", WORD_VECTORS="glove.txt")
    model = config["model"]
    encoder = model["contextual_encoder"]
    embedders = encoder["text_field_embedder"]["token_embedders"]
    assert encoder["feedforward"] == {"num_layers": 1, "hidden_dims": 300, "activations": "relu"}
    assert encoder["encoder"]["hidden_sizes"] == model["integrator"]["hidden_sizes"] == [300]
    assert (model["classifier"]["num_layers"], model["classifier"]["activations"]) == (2, "relu")
    assert embedders["tokens"]["embedding_dim"] == 300 and not embedders["tokens"]["trainable"]
    for elmo in (embedders["elmo"], encoder["output_elmo"]):
        assert (elmo["bilm"], elmo["layers"]) == ("original", "all")
    assert [penalty["alpha"] for _, penalty in model["regularizer"]["regexes"]] == [0.001, 0.001]
    assert config["trainer"]["optimizer"] == {"type": "adam", "lr": 0.0001}
    assert config["dataset_reader"]["min_phrase_length"] == 4
    assert not config["dataset_reader"]["binary"]
    assert config["train_data_path"] == "sst/train.txt"
    assert config["test_data_path"] == "sst/test.txt"
