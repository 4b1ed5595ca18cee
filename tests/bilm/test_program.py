"""A biLM that `torch.export` has exported gives the biLM's numbers, for batches of other sizes, too."""

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.bilm.program import export_program
from elmo_plugin.commands.export import export
from elmo_plugin.common.errors import BiLmError
from tests.small_bilm import small_options

SENTENCES = [["The", "play", "of", "light", "!"], ["Hello"], ["a", "b", "c"], ["x" * 60, "ÄÖ"]]


def assert_same(bilm: BiLm, program: torch.nn.Module, sentences: list[list[str]]) -> None:
    ids = torch.from_numpy(sentences_to_character_ids(sentences)).long()
    torch.testing.assert_close(program(ids), bilm(ids).layers, atol=1e-5, rtol=0)


@pytest.mark.slow
def test_the_program_gives_the_same_layers_for_any_batch() -> None:
    bilm = BiLm.from_pretrained("tiny")
    stored = io.BytesIO()
    torch.export.save(export_program(bilm), stored)
    stored.seek(0)
    program = torch.export.load(stored).module()
    for sentences in (SENTENCES, SENTENCES[1:2], [SENTENCES[0] * 9] * 2):
        assert_same(bilm, program, sentences)


@pytest.mark.slow
@pytest.mark.parametrize("changed", [{"use_skip_connections": False, "n_layers": 3}, {"cell_clip": 0.05}])
def test_skip_connections_and_clips_are_the_options(changed: dict[str, object]) -> None:
    torch.manual_seed(1)
    bilm = BiLm(BiLmOptions.from_dict(small_options(lstm=changed))).eval().requires_grad_(False)
    assert_same(bilm, export_program(bilm).module(), SENTENCES)


def test_the_weights_are_fixed_and_the_biLM_stays_what_it_was() -> None:
    torch.manual_seed(1)
    bilm = BiLm(BiLmOptions.from_dict(small_options())).eval()
    program = export_program(bilm).module()
    ids = torch.from_numpy(sentences_to_character_ids(SENTENCES)).long()
    assert bilm.is_trainable and not program(ids).requires_grad


@pytest.mark.slow
def test_the_command_writes_a_program_that_runs_without_this_package(tmp_path: Path) -> None:
    export("tiny", tmp_path / "tiny", with_program=True)
    torch.save(torch.from_numpy(sentences_to_character_ids(SENTENCES)).long(), tmp_path / "ids.pt")
    code = (
        "import sys, torch; sys.modules['elmo_plugin'] = None\n"
        "program = torch.export.load('tiny/bilm.pt2').module()\n"
        "torch.save(program(torch.load('ids.pt')), 'layers.pt')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    layers = BiLm.from_pretrained("tiny")(torch.load(tmp_path / "ids.pt")).layers
    torch.testing.assert_close(torch.load(tmp_path / "layers.pt"), layers, atol=1e-5, rtol=0)


def test_a_biLM_that_looks_up_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = BiLm(BiLmOptions.from_dict(small_options()))
    words = LexiconCnnOptions((), (("a", 0),), 3, 4, ((1, 2),), 1, "relu", 50)
    monkeypatch.setattr(bilm, "options", replace(bilm.options, char_cnn=words))
    with pytest.raises(BiLmError, match="a list of words"):
        export_program(bilm)
