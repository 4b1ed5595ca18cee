"""Weights of `elmo_plugin.Elmo`: to AllenNLP's and back, and what shares them."""

from pathlib import Path

import allennlp.modules.elmo as peer
import pytest
import torch

from elmo_plugin import Elmo, batch_to_ids
from tests.migration.allennlp_api.against_allennlp import (
    SENTENCES,
    WORDS,
    assert_same,
    different_mixes,
)
from tests.migration.allennlp_api.conftest import Files, write_bilm


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary", [None, WORDS], ids=["characters", "words"])
def test_our_elmo_and_allennlps_load_each_others_state_dict(
    files: Files, tmp_path: Path, vocabulary: list[str] | None
) -> None:
    other = write_bilm(tmp_path / "other", seed=1)
    ids, options = batch_to_ids(SENTENCES), {"vocab_to_cache": vocabulary}
    for source_kind, target_kind in ((Elmo, peer.Elmo), (peer.Elmo, Elmo)):
        source, target = (
            source_kind(*other, 2, **options).eval(),
            target_kind(*files, 2, **options).eval(),
        )
        different_mixes(source)
        torch.save(source.state_dict(), tmp_path / "weights.th")
        target.load_state_dict(torch.load(tmp_path / "weights.th", weights_only=True))
        expected = source(ids)
        assert_same(*((target(ids), expected) if target_kind is Elmo else (expected, target(ids))))


def test_a_state_dict_of_another_size_or_without_a_bilm_is_refused(files: Files) -> None:
    elmo = Elmo(*files)
    state = elmo.state_dict()
    longer = state | {"_elmo_lstm._token_embedder.char_conv_3.weight": torch.zeros(1, 5, 1)}
    with pytest.raises(RuntimeError, match=r"Unexpected key.*char_conv_3"):
        elmo.load_state_dict(longer)
    shorter = {name: tensor for name, tensor in state.items() if "_highways" not in name}
    with pytest.raises(RuntimeError, match=r"Missing key.*highways\._layers\.0\.weight"):
        elmo.load_state_dict(shorter)
