"""What stands for the modules inside AllenNLP's biLM: changes have an effect, or are refused."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from allennlp.confidence_checks.normalization_bias_verification import (
    NormalizationBiasVerification,
)
from torch import nn

from elmo_plugin import Elmo, batch_to_ids
from tests.migration.allennlp_api.conftest import Files

PROJECTION = "_elmo_lstm._token_embedder._projection"
NOT_SUPPORTED = r"give Elmo the `module` allennlp\.modules\.elmo\._ElmoBiLm"


@pytest.fixture
def elmo(files: Files) -> Any:
    return Elmo(*files, dropout=0.0)


@pytest.mark.parametrize(
    "kind",
    [
        "forward_pre_hook",
        "forward_hook",
        "backward_hook",
        "full_backward_pre_hook",
        "full_backward_hook",
    ],
)
def test_every_kind_of_hook_on_a_module_of_parameters_is_refused(elmo: Any, kind: str) -> None:
    module = dict(elmo.named_modules())[PROJECTION]
    with pytest.raises(AttributeError, match=NOT_SUPPORTED):
        getattr(module, f"register_{kind}")(lambda *_: None)


def test_hooks_of_allennlps_own_checks_are_ignored_and_can_be_removed(elmo: Any) -> None:
    check = NormalizationBiasVerification(elmo)
    check.register_hooks()
    elmo(batch_to_ids([["Rain", "fell"]]))
    check.destroy_hooks()


@pytest.mark.parametrize("name", ["forward", "adapter"])
def test_a_module_cannot_be_put_into_a_module_of_parameters(elmo: Any, name: str) -> None:
    module = dict(elmo.named_modules())[PROJECTION]
    with pytest.raises(AttributeError, match=NOT_SUPPORTED):
        setattr(module, name, nn.Identity())


def test_all_modules_can_be_put_into_evaluation_mode_one_by_one(elmo: Any) -> None:
    for module in elmo.modules():
        module.eval()
    assert not elmo._elmo_lstm.bilm.training


NOT_THERE: dict[str, Callable[[Any], Any]] = {
    "replaced LSTM": lambda elmo: setattr(elmo._elmo_lstm, "_elmo_lstm", nn.Identity()),
    "replaced token embedder": lambda elmo: setattr(
        elmo._elmo_lstm, "_token_embedder", nn.Identity()
    ),
    "replaced vectors of words": lambda elmo: setattr(
        elmo._elmo_lstm, "_word_embedding", nn.Embedding(2, 3)
    ),
    "hooked LSTM": lambda elmo: elmo._elmo_lstm._elmo_lstm.register_forward_hook(print),
    "called LSTM": lambda elmo: elmo._elmo_lstm._elmo_lstm(torch.zeros(1, 1, 6)),
    "called forward": lambda elmo: elmo._elmo_lstm._elmo_lstm.forward(torch.zeros(1, 1, 6)),
    "read layer": lambda elmo: elmo._elmo_lstm._elmo_lstm.forward_layer_0,
    "set size": lambda elmo: setattr(elmo._elmo_lstm._elmo_lstm, "hidden_size", 3),
}


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_an_inner_module_does_not_support_ends_in_a_sentence(elmo: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=NOT_SUPPORTED):
        NOT_THERE[name](elmo)


def test_names_show_the_parameters_that_a_load_by_assignment_has_put_there(elmo: Any) -> None:
    weights = {name: weight.clone() for name, weight in elmo.state_dict().items()}
    elmo.load_state_dict(weights, assign=True)
    shown = {id(weight) for name, weight in elmo.named_parameters() if "scalar_mix" not in name}
    assert shown == {id(weight) for weight in elmo._elmo_lstm.bilm.parameters()}


def test_a_state_of_some_rows_can_be_reset_after_stateful_was_switched_off(files: Files) -> None:
    elmo = Elmo(*files, dropout=0.0, stateful=True)
    elmo(batch_to_ids([["Rain", "fell"], ["Ivan"]]))
    lstm = elmo._elmo_lstm._elmo_lstm
    hidden, cell = (part.clone() for part in lstm._states)
    lstm.stateful = False
    lstm.reset_states(torch.tensor([False, True]))
    for before, after in zip((hidden, cell), lstm._states, strict=True):
        torch.testing.assert_close(after[:, 0], before[:, 0])
        assert before[:, 1].any() and not after[:, 1].any()
