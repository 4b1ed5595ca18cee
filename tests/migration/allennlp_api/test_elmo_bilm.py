"""The inner modules of `Elmo`: what scripts do to them has its effect, or is an error."""

from collections.abc import Callable
from typing import Any

import allennlp.modules.elmo as peer
import pytest
import torch
from torch import Tensor, nn

import elmo_plugin
from elmo_plugin import Elmo, batch_to_ids
from elmo_plugin.bilm import BiLmError
from tests.migration.allennlp_api.against_allennlp import SENTENCES, WORDS, assert_same
from tests.migration.allennlp_api.conftest import Files

IDS = batch_to_ids(SENTENCES)
NUMBERS = torch.ones(len(SENTENCES), IDS.size(1), dtype=torch.long)


class Doubled(nn.Module):
    """Wraps a biLM, and doubles all layers."""

    def __init__(self, bilm: nn.Module) -> None:
        super().__init__()
        self.bilm, self.num_layers = bilm, bilm.num_layers

    def forward(self, *inputs: Any) -> dict[str, Any]:
        output = self.bilm(*inputs)
        return {**output, "activations": [2 * layer for layer in output["activations"]]}


def replace_bilm(elmo: Any) -> None:
    elmo._elmo_lstm = Doubled(elmo._elmo_lstm)


def replace_mix(elmo: Any) -> None:
    elmo.scalar_mix_0 = peer.ScalarMix(3, initial_scalar_parameters=[1.0, 2.0, 3.0])


def replace_dropout(elmo: Any) -> None:
    elmo._dropout = nn.Tanh()


def hook_bilm(elmo: Any) -> None:
    def hook(_: Any, inputs: Any, output: Any) -> Any:
        assert output["mask"].size(1) == inputs[0].size(1) + 2
        return {**output, "activations": 3 * output["activations"][:1]}

    elmo._elmo_lstm.register_forward_hook(hook)


def hook_input(elmo: Any) -> None:
    elmo._elmo_lstm.register_forward_pre_hook(lambda _, inputs: (inputs[0].flip(0), *inputs[1:]))


def hook_mix(elmo: Any) -> None:
    def hook(_: Any, inputs: tuple[list[Tensor], Tensor]) -> Any:
        layers, mask = inputs
        assert isinstance(layers, list) and mask.sum() == sum(map(len, SENTENCES)) + 2 * len(
            SENTENCES
        )
        return 3 * layers[:1], mask

    elmo.scalar_mix_0.register_forward_pre_hook(hook)


@pytest.mark.parametrize(
    "change", [replace_bilm, replace_mix, replace_dropout, hook_bilm, hook_input, hook_mix]
)
def test_changing_a_module_has_the_same_effect_as_in_allennlp(
    files: Files, change: Callable[[Any], None]
) -> None:
    ours, theirs = (kind(*files, 1, dropout=0.0).eval() for kind in (Elmo, peer.Elmo))
    before = ours(IDS)["elmo_representations"][0]
    for elmo in (ours, theirs):
        change(elmo)
    actual, expected = ours(IDS), theirs(IDS)
    mask = expected["mask"]
    assert not torch.allclose(actual["elmo_representations"][0], before)
    torch.testing.assert_close(
        actual["elmo_representations"][0][mask],
        expected["elmo_representations"][0][mask],
        atol=1e-5,
        rtol=0,
    )


@pytest.mark.parametrize("name", ["_ElmoBiLm", "_ElmoCharacterEncoder"])
def test_allennlps_private_classes_are_imported_from_there(name: str) -> None:
    with pytest.raises(ImportError, match=r"import it from allennlp\.modules\.elmo"):
        exec(f"from elmo_plugin import {name}")
    assert not hasattr(elmo_plugin, name)


def test_trainable_cached_words_are_refused(files: Files) -> None:
    with pytest.raises(BiLmError, match="vocab_to_cache cannot be combined with a trained biLM"):
        Elmo(*files, requires_grad=True, vocab_to_cache=WORDS)
    elmo = Elmo(*files, vocab_to_cache=WORDS)
    state = elmo.state_dict()
    with pytest.raises(BiLmError, match="trained vectors of words"):
        elmo.load_state_dict(
            {**state, "_elmo_lstm._word_embedding.weight": torch.ones(len(WORDS), 6)}
        )
    elmo.load_state_dict(state)
    elmo.requires_grad_(True)
    assert elmo(IDS)["elmo_representations"][0].requires_grad
    with pytest.raises(BiLmError, match="vocab_to_cache cannot be combined with a trained biLM"):
        elmo(IDS, NUMBERS)


def test_hooks_on_modules_inside_allennlps_bilm_run(files: Files) -> None:
    """The way out that the errors name."""
    elmo = Elmo(module=peer._ElmoBiLm(*files), dropout=0.0)
    calls: list[str] = []
    elmo._elmo_lstm._elmo_lstm.register_forward_hook(lambda *_: calls.append("lstm"))
    assert_same(elmo(IDS), Elmo(*files, dropout=0.0)(IDS))
    assert calls == ["lstm"]
