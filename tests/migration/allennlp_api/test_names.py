from typing import Any

import allennlp.modules.elmo as peer
import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.migration.allennlp_api.names import (
    from_allennlp,
    parameter_names,
    published_options,
    to_allennlp,
    with_parameter_names,
)
from tests.bilm.manylangs.model_folder import write_model
from tests.migration.allennlp_api.conftest import write_bilm
from tests.small_bilm import loud_bilm, small_options

SIZES: list[dict[str, Any]] = [
    {},
    {"char_cnn": {"n_highway": 0, "filters": [[3, 2]]}},
    {"char_cnn": {"n_highway": 3}, "lstm": {"n_layers": 1, "projection_dim": 3, "dim": 8}},
    {"lstm": {"n_layers": 11}},
]


@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_weights_keep_allennlps_names_order_and_values_in_a_round_trip(
    tmp_path: Any, changes: dict[str, Any]
) -> None:
    bilm = loud_bilm(**changes)
    converted = to_allennlp(bilm.state_dict(), bilm.options)
    if not changes:
        theirs = peer._ElmoBiLm(*write_bilm(tmp_path)).state_dict()
        assert list(converted) == list(theirs)
        assert all(torch.equal(converted[name], theirs[name]) for name in theirs)
    assert published_options(converted) == bilm.options
    back = from_allennlp(converted, bilm.options)
    assert back.keys() == bilm.state_dict().keys()
    for name, weight in bilm.state_dict().items():
        torch.testing.assert_close(back[name], weight, atol=1e-6, rtol=0)


def test_a_weight_of_another_shape_is_refused() -> None:
    options = BiLmOptions.from_dict(small_options())
    name = "_elmo_lstm.forward_layer_1.state_linearity.bias"
    with pytest.raises(
        BiLmError, match=r"forward_layer_1.*bias: expected shape \(40,\), got \(39,\)"
    ):
        from_allennlp({name: torch.zeros(39)}, options)


def test_a_parameter_gets_allennlps_name_only_if_its_values_are_the_same() -> None:
    bilm = loud_bilm()
    converted = to_allennlp(bilm.state_dict(), bilm.options)
    for name, shown in parameter_names(bilm.options).items():
        weight = bilm.state_dict()[name]
        assert (shown in converted) == (
            shown in converted and torch.equal(converted[shown], weight)
        )
        assert shown in converted or shown.rpartition(".")[0] in converted


def test_the_names_of_all_bilms_in_a_model_are_added() -> None:
    bilm = loud_bilm()
    converted = to_allennlp(bilm.state_dict(), bilm.options)
    state = {f"{path}.{name}": weight for path in ("a", "b") for name, weight in converted.items()}
    extended = with_parameter_names({**state, "other": torch.ones(1)})
    assert state.keys() | {"other"} < extended.keys()
    for name, shown in parameter_names(bilm.options).items():
        torch.testing.assert_close(
            extended[f"b.{shown}"], bilm.state_dict()[name], atol=1e-6, rtol=0
        )


def test_a_character_encoder_without_lstms_is_left_as_it_is() -> None:
    bilm = loud_bilm()
    converted = to_allennlp(bilm.state_dict(), bilm.options)
    state = {name: weight for name, weight in converted.items() if "_elmo_lstm" not in name}
    assert with_parameter_names(state).keys() == state.keys()


def test_a_bilm_that_does_not_read_bytes_is_refused(tmp_path: Any) -> None:
    with pytest.raises(BiLmError, match="reads bytes"):
        to_allennlp({}, BiLm.from_pretrained(write_model(tmp_path / "model")).options)
