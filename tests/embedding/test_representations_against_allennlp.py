"""AllenNLP's own `Elmo` on the same weights as an outside opinion."""

import json
from pathlib import Path

import allennlp.modules.elmo as peer
import pytest
import torch
from allennlp.modules.elmo import batch_to_ids

from elmo_plugin.bilm import BiLm
from elmo_plugin.embedding import ElmoRepresentations
from tests.close import ROUNDINGS, assert_near

PRE_SOFTMAX = [0.3, -0.7, 1.1]


@pytest.fixture
def published(shared: Path) -> dict[str, str]:
    folder = shared / "parity" / "elmo"
    return {"options": str(folder / "options.json"), "weights": str(folder / "lm_weights.hdf5")}


def agree(files: dict[str, str], batches: list[list[list[str]]], roundings: float = ROUNDINGS) -> None:
    """Both, stateful, give the same over successive batches: with a frozen mix, and with an average."""
    theirs = peer.Elmo(files["options"], files["weights"], 1, scalar_mix_parameters=PRE_SOFTMAX).eval()
    ours = ElmoRepresentations(
        BiLm.from_pretrained(files),
        num_mixes=1,
        stateful=True,
        mixing_weights=torch.tensor(PRE_SOFTMAX).softmax(dim=0).tolist(),
    ).eval()
    for batch in batches:
        character_ids = batch_to_ids(batch)
        expected = theirs(character_ids)
        (actual,), mask = ours(character_ids)
        assert torch.equal(mask, expected["mask"])
        assert_near(actual, expected["elmo_representations"][0], roundings)


def test_stateful_equals_allennlp_on_published_weights(shared: Path, published: dict[str, str]) -> None:
    streams = json.loads((shared / "parity" / "elmo" / "sentences.json").read_text())
    batches = [[stream[i].split() for stream in streams] for i in range(10)]
    agree(published, batches, roundings=4)  # 2e-6, as the numbers are below 5


def test_stateful_equals_allennlp_with_batches_of_changing_size(bilm_files: dict[str, str]) -> None:
    sentences = [["The", "play", "ended", "."], ["Play", "!"], ["A", "play", "by", "a", "child"]]
    batches = [sentences[:2], sentences, sentences[1:2], sentences[::-1], sentences[:2]]
    agree(bilm_files, batches)


def test_first_batch_with_equal_weights_equals_allennlp(bilm_files: dict[str, str]) -> None:
    character_ids = batch_to_ids([["The", "play", "."], ["naïve", "日本語"]])
    theirs = peer.Elmo(bilm_files["options"], bilm_files["weights"], 2).eval()(character_ids)
    ours = ElmoRepresentations(BiLm.from_pretrained(bilm_files), num_mixes=2).eval()(character_ids)
    for actual, expected in zip(ours.representations, theirs["elmo_representations"], strict=True):
        assert_near(actual, expected)


def test_stateful_with_empty_sentences_equals_allennlp(bilm_files: dict[str, str]) -> None:
    sentences = [["The", "play", "ended", "."], [], ["A", "play", "by", "a", "child"]]
    agree(bilm_files, [sentences, sentences[::-1], sentences[1:], sentences])
