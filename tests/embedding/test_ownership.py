"""What one part of a process does never changes another model's vectors."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from elmo_plugin.embed_files import EmbedSettings
from elmo_plugin.embed_files.embedder import Embedder
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from tests.embedding.placements import HYPOTHESIS, PREMISE, assert_same, placements, vectors

Change = Callable[[ElmoTokenEmbedder], object]


def shorter_batches(embedder: ElmoTokenEmbedder) -> None:
    embedder._elmo.bilm.max_batch_tokens = 1
    embedder._elmo.bilm.precision = "int8"
    embedder._elmo.bilm.recurrence = "reference"


def other_weights(embedder: ElmoTokenEmbedder) -> None:
    with torch.no_grad():
        for parameter in embedder.parameters():
            parameter.mul_(2)


@pytest.mark.parametrize(
    "change",
    [
        shorter_batches,
        other_weights,
        ElmoTokenEmbedder.train,
        lambda embedder: embedder.requires_grad_(True),
        lambda embedder: embedder.double(),
        lambda embedder: embedder(HYPOTHESIS),
    ],
)
def test_two_embedders_of_one_source_have_nothing_to_do_with_each_other(
    bilm_files: dict[str, str], change: Change
) -> None:
    one, other = (ElmoTokenEmbedder(bilm_files, dropout=0).eval() for _ in range(2))
    expected = one(PREMISE)
    change(other)
    assert torch.equal(one(PREMISE), expected)
    assert not any(parameter.requires_grad for parameter in one._elmo.bilm.parameters())


def test_files_are_embedded_in_another_precision_beside_a_model(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files).eval()
    expected = vectors(model, PREMISE)
    embedder = Embedder(EmbedSettings(bilm_files, precision="int8", max_batch_tokens=3))
    assert embedder._bilm.precision == "int8"
    assert_same(vectors(model, PREMISE), expected)
    other = Embedder(EmbedSettings(bilm_files))
    assert other._bilm.precision == "float32" and embedder._bilm.precision == "int8"


def test_the_files_may_change_under_a_model(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files).eval()
    expected = vectors(model, PREMISE)
    for file in bilm_files.values():
        Path(file).unlink()
    assert_same(vectors(model, PREMISE), expected)


def test_loading_other_weights_into_one_placement_does_not_change_the_one_that_shares_its_bilm(
    bilm_files: dict[str, str],
) -> None:
    """As where the members of an ensemble were trained on different biLMs of one name."""
    model, doubled = (placements(bilm_files, dropout=0).eval() for _ in range(2))
    expected = model["input"](PREMISE)
    other_weights(doubled["output"])
    part_of_output = {f"output.{name}": tensor for name, tensor in doubled["output"].state_dict().items()}
    model.load_state_dict(model.state_dict() | part_of_output)
    assert torch.equal(model["input"](PREMISE), expected)
    torch.testing.assert_close(model["output"](PREMISE), doubled["output"](PREMISE))
