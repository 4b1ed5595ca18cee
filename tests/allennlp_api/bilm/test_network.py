"""A biLM with AllenNLP's parameters computes what one with ours does."""

import copy
import pickle
from typing import Any

import pytest
import torch

from elmo_plugin.allennlp_api.bilm import AllenNlpBiLm
from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.lstm import RECURRENCES
from tests.allennlp_api.conftest import Files
from tests.bilm.manylangs.model_folder import write_model
from tests.small_bilm import loud_bilm

SENTENCES = [["The", "play", "ended", "."], ["Wörterbuch"], []]


@pytest.mark.parametrize("recurrence", RECURRENCES)
def test_it_computes_what_the_bilm_computes(recurrence: str) -> None:
    bilm = loud_bilm(char_cnn={"n_highway": 2}).requires_grad_(False).eval()
    theirs = AllenNlpBiLm.from_source(bilm)
    bilm.recurrence = theirs.recurrence = recurrence
    for ours, actual in zip(bilm.embed(SENTENCES), theirs.embed(SENTENCES), strict=True):
        torch.testing.assert_close(actual, ours, atol=1e-5, rtol=0)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda bilm: pickle.loads(pickle.dumps(bilm))])
def test_a_copy_is_run_by_its_own_parameters(files: Files, duplicate: Any) -> None:
    bilm = AllenNlpBiLm.from_files(*files)
    copied = duplicate(bilm)
    expected = bilm.embed(SENTENCES)
    with torch.no_grad():
        for parameter in bilm.parameters():
            parameter.zero_()
    for actual, one in zip(copied.embed(SENTENCES), expected, strict=True):
        assert torch.equal(actual, one)
    assert [name for name, _ in copied.named_parameters()] == [name for name, _ in bilm.named_parameters()]


def test_parameters_that_torch_replaces_are_read(files: Files) -> None:
    bilm, other = AllenNlpBiLm.from_files(*files), AllenNlpBiLm.from_source(loud_bilm(seed=1))
    bilm.load_state_dict(other.state_dict(), assign=True)
    for actual, expected in zip(bilm.embed(SENTENCES), other.embed(SENTENCES), strict=True):
        assert torch.equal(actual, expected)


def test_one_that_does_not_read_bytes_is_refused(tmp_path: Any) -> None:
    with pytest.raises(BiLmError, match="reads the bytes of words"):
        AllenNlpBiLm.from_source(str(write_model(tmp_path / "model")))
