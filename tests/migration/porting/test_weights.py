"""Old names of weights and those of today."""

import pytest
import torch
from allennlp.common import Params
from allennlp.modules import Seq2SeqEncoder

import elmo_plugin.register  # noqa: F401
from elmo_plugin.migration.porting.weights import port_weights

ELMO = "text_field_embedder.token_embedder_elmo._elmo._elmo_lstm."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "_matrix_attention._similarity_function._weight_vector",
            "_matrix_attention._weight_vector",
        ),
        (
            "_encoder._module.layer_3.input_linearity.weight",
            "_encoder._module.layer_3.cell.input_linearity.weight",
        ),
        (
            "encoder._module.forward_layer_10.state_linearity.bias",
            "encoder._module.forward_layer_10.cell.state_linearity.bias",
        ),
        (
            "embedder._encoder._module._module.backward_layer_0.input_linearity.weight",
            "embedder._encoder._module._module.backward_layer_0.cell.input_linearity.weight",
        ),
        (
            "encoder._module.state_linearity.weight",
            "encoder._module.cell.state_linearity.weight",
        ),
        (
            "_mention_pruner._scorer.0._module._linear_layers.1.bias",
            "_mention_feedforward._module._linear_layers.1.bias",
        ),
        ("_mention_pruner._scorer.1._module.weight", "_mention_scorer._module.weight"),
    ],
)
def test_old_names_are_replaced_by_new_ones(old: str, new: str) -> None:
    tensors = {old: torch.ones(1), "other": torch.zeros(1)}
    port_weights(tensors)
    assert tensors == {"other": torch.zeros(1), new: torch.ones(1)}
    port_weights(tensors)
    assert set(tensors) == {"other", new}


@pytest.mark.parametrize(
    "name",
    [
        f"{ELMO}_elmo_lstm.forward_layer_0.input_linearity.weight",
        f"{ELMO}_elmo_lstm.backward_layer_1.state_linearity.bias",
        "encoder._module.weight_ih_l0",
        "_word_embedding.weight",
    ],
)
def test_current_names_are_not_changed(name: str) -> None:
    tensors = {name: torch.ones(1)}
    port_weights(tensors)
    assert list(tensors) == [name]


def test_vectors_of_elmos_cached_words_are_taken_out() -> None:
    tensors = {f"{ELMO}_word_embedding.weight": torch.ones(1)}
    port_weights(tensors)
    assert tensors == {}


@pytest.mark.parametrize(
    "params",
    [
        {"type": "old_augmented_lstm", "input_size": 2, "hidden_size": 3},
        {"type": "alternating_lstm", "input_size": 2, "hidden_size": 3, "num_layers": 2},
        {"type": "stacked_bidirectional_lstm", "input_size": 2, "hidden_size": 3, "num_layers": 2},
    ],
    ids=lambda params: params["type"],
)
def test_weights_of_each_lstm_get_allennlps_names(params: dict[str, object]) -> None:
    encoder = Seq2SeqEncoder.from_params(Params(params))
    names = {f"encoder.{name}" for name in encoder.state_dict()}
    tensors = {name.replace(".cell.", "."): torch.ones(1) for name in names}
    assert not names & tensors.keys()
    port_weights(tensors)
    assert tensors.keys() == names
