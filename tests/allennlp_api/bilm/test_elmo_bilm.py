"""The biLM inside of `Elmo`, and what it refuses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import allennlp.modules.elmo as peer
import pytest
import torch

from elmo_plugin import Elmo, _ElmoBiLm, _ElmoCharacterEncoder, batch_to_ids
from elmo_plugin.bilm import BiLmError
from tests.allennlp_api.against_allennlp import SENTENCES, WORDS
from tests.allennlp_api.conftest import Files, write_bilm

IDS = batch_to_ids(SENTENCES)
NUMBERS = torch.ones(len(SENTENCES), IDS.size(1), dtype=torch.long)


def test_cached_words_may_be_changed_to_what_their_characters_give_and_to_nothing_else(
    files: Files, tmp_path: Path
) -> None:
    bilm = _ElmoBiLm(*files, vocab_to_cache=WORDS)
    bilm.load_state_dict(peer._ElmoBiLm(*files, vocab_to_cache=WORDS).state_dict())
    bilm(IDS, NUMBERS)
    with torch.no_grad():
        bilm._word_embedding.weight[1] += 1
    bilm(IDS)  # the words by their characters
    with pytest.raises(BiLmError, match="leave vocab_to_cache out"):
        bilm(IDS, NUMBERS)


def test_cached_words_that_were_trained_with_allennlp_are_refused(files: Files) -> None:
    theirs = peer._ElmoBiLm(*files, requires_grad=True, vocab_to_cache=WORDS)
    with torch.no_grad():
        theirs._word_embedding.weight.mul_(2)
    bilm = _ElmoBiLm(*files, vocab_to_cache=WORDS)
    bilm.load_state_dict(theirs.state_dict())
    with pytest.raises(BiLmError, match="leave vocab_to_cache out"):
        bilm(IDS, NUMBERS)


def test_cached_words_are_not_unfrozen(files: Files) -> None:
    elmo = Elmo(*files, vocab_to_cache=WORDS).requires_grad_(True)
    elmo(IDS)["elmo_representations"][0].sum().backward()
    assert elmo._elmo_lstm._token_embedder._char_embedding_weights.grad is not None
    with pytest.raises(BiLmError, match="leave vocab_to_cache out"):
        elmo(IDS, NUMBERS)


def test_a_bilm_that_is_unfrozen_in_a_lower_precision_is_refused(files: Files) -> None:
    elmo = Elmo(*files, precision="bfloat16").requires_grad_(True)
    with pytest.raises(BiLmError, match="in float32, not in bfloat16"):
        elmo(IDS)


@pytest.mark.parametrize("kind", [Elmo, _ElmoBiLm, _ElmoCharacterEncoder])
@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_all_parts_move_together(files: Files, kind: type[torch.nn.Module], device: str) -> None:
    module = kind(*files).to(device)
    assert {parameter.device.type for parameter in module.parameters()} == {device}
    if device == "cpu":
        module.double()(IDS)


def test_weights_that_are_loaded_from_elsewhere_are_those_of_the_encoder_too(
    files: Files, tmp_path: Path
) -> None:
    other = write_bilm(tmp_path / "other", seed=1)
    bilm, encoder = _ElmoBiLm(*files), _ElmoCharacterEncoder(*other)
    bilm._token_embedder.load_state_dict(encoder.state_dict())
    actual = bilm(IDS)["activations"][0][..., : encoder.get_output_dim()]
    torch.testing.assert_close(actual, encoder(IDS)["token_embedding"], atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    "write", [lambda weight: weight.data.mul_(0.5), lambda weight: weight.detach().numpy().fill(0.1)]
)
def test_weights_that_are_written_past_torchs_count_are_used(
    files: Files, write: Callable[[Any], Any]
) -> None:
    bilm, fresh = _ElmoBiLm(*files), _ElmoBiLm(*files)
    bilm(IDS)
    bilm._elmo_lstm.reset_states()
    for each in (bilm, fresh):
        write(each._elmo_lstm.forward_layer_0.input_linearity.weight)
    for actual, expected in zip(bilm(IDS)["activations"], fresh(IDS)["activations"], strict=True):
        assert torch.equal(actual, expected)


def test_several_gpus_in_one_process_are_refused(files: Files) -> None:
    for module in (Elmo(*files)._elmo_lstm, _ElmoBiLm(*files)):
        with pytest.raises(BiLmError, match="one process for each GPU"):
            module._replicate_for_data_parallel()
