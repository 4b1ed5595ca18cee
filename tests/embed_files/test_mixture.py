"""The mixture of a task model's archive, against what the model itself feeds to its layers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.models import Model

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.embed_files import EmbedSettings, embed_file
from elmo_plugin.embedding import ElmoRepresentations
from tests.embed_files.conftest import LINES
from tests.embed_files.test_run import vectors_in
from tests.trained_tagger import tagger_config, train


def trained(bilm: dict[str, str], folder: Path, **options: Any) -> Model:
    """A tagger whose mixtures are not what they were at first."""
    model = train(tagger_config(bilm, dropout=0.5, **options), folder)
    return model.eval()


def representations(elmo: ElmoRepresentations, lines: list[str]) -> list[list[np.ndarray]]:
    """Returns the vectors of each line by itself, for each placement."""
    character_ids = [torch.from_numpy(sentences_to_character_ids([line.split()])) for line in lines]
    with torch.no_grad():
        outputs = [elmo(ids).representations for ids in character_ids]
    return [
        [vectors[0].numpy() for vectors in placement] for placement in zip(*outputs, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"layer_norm": True, "layers": [2, 0]}, {"requires_grad": True}], ids=str
)
def test_the_vectors_equal_those_inside_the_model(
    options: dict[str, Any], bilm_files: dict[str, str], text: Path, tmp_path: Path
) -> None:
    model = trained(bilm_files, tmp_path / "run", **options)
    (elmo,) = (module for module in model.modules() if isinstance(module, ElmoRepresentations))
    found = {}
    for placement in ("input", "output"):
        settings = EmbedSettings(str(tmp_path / "run" / "model.tar.gz"), "mix", placement)
        embed_file(text, tmp_path / f"{placement}.hdf5", settings)
        found[placement] = vectors_in(tmp_path / f"{placement}.hdf5")
    for placement, expected in zip(found.values(), representations(elmo, LINES), strict=True):
        for line, expected_line in zip(placement, expected, strict=True):
            np.testing.assert_allclose(line, expected_line, atol=1e-5)
    assert not np.allclose(found["input"][0], found["output"][0], atol=1e-3), (
        "they have learned differently"
    )


@pytest.mark.slow
def test_a_model_with_several_placements_needs_one_named(
    bilm_files: dict[str, str], text: Path, tmp_path: Path
) -> None:
    trained(bilm_files, tmp_path / "run")
    archive = str(tmp_path / "run" / "model.tar.gz")
    with pytest.raises(BiLmError, match="--placement: expected one of input, output, got None"):
        embed_file(text, tmp_path / "out.hdf5", EmbedSettings(archive, "mix"))
    with pytest.raises(BiLmError, match="--placement: expected one of input, output, got 'middle'"):
        embed_file(text, tmp_path / "out.hdf5", EmbedSettings(archive, "mix", "middle"))
