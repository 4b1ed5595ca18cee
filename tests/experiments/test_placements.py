"""Composed configurations build the right task models, in addition to `tests/tasks/contract.py`."""

import pytest
import torch

from tests.experiments.configs import DATA, ELMO_DIM, elmo_at, model_and_batch, parameters, small_config

PLACEMENTS = [["input"], ["output"], ["input", "output"]]
SIZES = {  # of what the words' vectors enter, and of what the encoder's output enters
    "coref": lambda model: (
        model.contextual_encoder.encoder.get_input_dim(),
        model.span_encoder.head_attention.weight.size(1),
    ),
    "ner": lambda model: (
        model.contextual_encoder.encoder.get_input_dim(),
        model.tag_projection.weight.size(1),
    ),
    "snli": lambda model: (
        model.contextual_encoder.encoder.get_input_dim(),
        model.projection.get_input_dim() / 4,
    ),
    "squad": lambda model: (
        model.contextual_encoder.encoder.get_input_dim(),
        model.attention_projection.get_input_dim() / 4,
    ),
    "srl": lambda model: (
        model.contextual_encoder.encoder.get_input_dim(),
        model.tag_projection.weight.size(1),
    ),
    "sst": lambda model: (
        model.contextual_encoder.feedforward.get_input_dim(),
        model.integrator.get_input_dim() / 3,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("task", SIZES)
def test_a_placement_makes_what_it_enters_wider_by_elmo(task: str) -> None:
    baseline, _ = model_and_batch(small_config(task, "elmo.none"), DATA[task])
    before_input, before_output = SIZES[task](baseline)
    for placements in PLACEMENTS:
        model, _ = model_and_batch(small_config(task, elmo_at(placements)), DATA[task])
        at_input, at_output = SIZES[task](model)
        assert at_input == before_input + ELMO_DIM * ("input" in placements)
        assert at_output == before_output + ELMO_DIM * ("output" in placements)
        assert model.contextual_encoder.get_output_dim() == at_output


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


@pytest.mark.parametrize("task", ["coref", "ner", "squad"])
def test_the_character_cnn_has_features_for_words_of_one_character(task: str) -> None:
    model, _ = model_and_batch(small_config(task, "elmo.none"), DATA[task])
    character_cnn = model.contextual_encoder.text_field_embedder.token_embedder_token_characters
    word_of_one_character_and_padding = torch.tensor([[[2, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]])
    vectors = character_cnn(word_of_one_character_and_padding)
    assert (vectors[0, 0] > 0).double().mean() > 0.2
    assert not vectors[0, 1].any()
