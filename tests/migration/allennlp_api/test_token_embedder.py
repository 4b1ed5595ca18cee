"""Token embedders of the same frozen biLM share it, and none of them changes it for another."""

from pathlib import Path

import torch

from elmo_plugin import batch_to_ids
from elmo_plugin.bilm import BiLm
from elmo_plugin.migration.allennlp_api.token_embedder import (
    AllenNlpElmoTokenEmbedder as ElmoTokenEmbedder,
)
from tests.migration.allennlp_api.against_allennlp import SENTENCES
from tests.migration.allennlp_api.conftest import Files, write_bilm

IDS = batch_to_ids(SENTENCES)


def bilm(embedder: ElmoTokenEmbedder) -> BiLm:
    return embedder._elmo._elmo_lstm.bilm


def test_loading_weights_does_not_change_another_embedder_of_the_same_files(
    files: Files, tmp_path: Path
) -> None:
    one, other = ElmoTokenEmbedder(*files).eval(), ElmoTokenEmbedder(*files).eval()
    before, new = one(IDS), ElmoTokenEmbedder(*write_bilm(tmp_path / "new", seed=1)).eval()
    other.load_state_dict(new.state_dict())
    assert torch.equal(one(IDS), before)
    assert torch.equal(other(IDS), new(IDS))


def test_the_state_dict_is_plain_when_files_are_given_as_paths(
    files: Files, tmp_path: Path
) -> None:
    torch.save(ElmoTokenEmbedder(*map(Path, files)).state_dict(), tmp_path / "weights.th")
    torch.load(tmp_path / "weights.th", weights_only=True)
