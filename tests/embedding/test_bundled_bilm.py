"""A frozen biLM that comes with the package is stored by its name and a digest."""

from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError

from elmo_plugin.bilm import BiLm
from elmo_plugin.common.formats.torch_files import EXTRA_STATE
from elmo_plugin.embedding import ContextualElmo
from elmo_plugin.embedding.archive import ElmoMetadata
from elmo_plugin.embedding.contextual_elmo import ElmoPlacement


def elmo(**options: Any) -> ContextualElmo:
    return ContextualElmo("tiny", input=ElmoPlacement(dropout=0), **options)


def metadata(state: dict[str, Any]) -> ElmoMetadata:
    return ElmoMetadata.from_tensor(state[EXTRA_STATE])


def stored_bilm(module: torch.nn.Module) -> list[str]:
    return [name for name in module.state_dict() if "bilm." in name]


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_frozen_bundled_bilm_is_not_stored_and_is_restored(precision: str) -> None:
    model = torch.nn.ModuleDict({"elmo": elmo(precision=precision)})
    with torch.no_grad():
        model["elmo"].mixes["input"].scalar_mix.gamma.fill_(2)
    assert stored_bilm(model) == []
    loaded = torch.nn.ModuleDict({"elmo": elmo(precision=precision)})
    loaded.load_state_dict(model.state_dict())
    ids = BiLm.from_pretrained("tiny").character_ids([["The", "play"]])
    assert torch.equal(
        loaded["elmo"](ids).representations[0], model["elmo"](ids).representations[0]
    )


def test_a_frozen_bilm_with_changed_weights_is_stored() -> None:
    changed = elmo()
    with torch.no_grad():
        next(changed.bilm.parameters()).view(-1)[0] += 1  # unseen by `refresh`
    assert stored_bilm(changed)
    other = elmo()
    other.load_state_dict(changed.state_dict())
    assert torch.equal(next(other.bilm.parameters()), next(changed.bilm.parameters()))


def test_bundled_weights_are_used_when_a_state_dict_omits_them() -> None:
    changed, state = elmo(), elmo().state_dict()
    with torch.no_grad():
        next(changed.bilm.parameters()).zero_()
    changed.load_state_dict(state)
    assert stored_bilm(changed) == []


def test_weights_of_another_version_are_refused_naming_that_version() -> None:
    state = elmo().state_dict()
    state[EXTRA_STATE] = metadata(state)._replace(digest="00", version="9.9").to_tensor()
    with pytest.raises(ConfigurationError, match=r"biLM 'tiny': install elmo_plugin==9\.9"):
        elmo().load_state_dict(state)
