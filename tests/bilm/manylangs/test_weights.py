"""The two files of tensors: they run nothing, and what does not fit is named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from tests.bilm.manylangs.model_folder import write_model
from tests.payload import Payload

FILES = ["token_embedder.pkl", "encoder.pkl"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")


def change(path: Path, change_state: Callable[[dict[str, Any]], Any]) -> None:
    state = torch.load(path, weights_only=True)
    change_state(state)
    torch.save(state, path)


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("file", FILES)
def test_no_code_is_run(file: str, legacy: bool, folder: Path) -> None:
    state = torch.load(folder / file, weights_only=True) | {"more": Payload(folder / "ran")}
    torch.save(state, folder / file, _use_new_zipfile_serialization=not legacy)
    with pytest.raises(
        BiLmError, match=f"weight file {folder / file}: its weights are not plain tensors"
    ):
        BiLm.from_pretrained(str(folder))
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("file", "name", "shape"),
    [
        ("token_embedder.pkl", "word_emb_layer.embedding.weight", (12, 4)),
        ("token_embedder.pkl", "char_emb_layer.embedding.weight", (31, 3)),
        ("token_embedder.pkl", "convolutions.2.weight", (5, 3, 4)),
        ("token_embedder.pkl", "highways._layers.1.bias", (24,)),
        ("token_embedder.pkl", "projection.weight", (6, 16)),
        ("encoder.pkl", "backward_layer_1.input_linearity.weight", (28, 6)),
        ("encoder.pkl", "forward_layer_0.state_projection.weight", (6, 7)),
    ],
)
def test_a_tensor_of_the_wrong_shape_is_named(
    file: str, name: str, shape: tuple[int, ...], folder: Path
) -> None:
    change(folder / file, lambda state: state.update({name: torch.zeros(1, 2)}))
    message = rf"{file}: the tensor {name} has the shape \(1, 2\), expected \({shape[0]},"
    with pytest.raises(BiLmError, match=message):
        BiLm.from_pretrained(str(folder))
    change(folder / file, lambda state: state.pop(name))
    with pytest.raises(BiLmError, match=f"{file}: the tensor {name} is missing"):
        BiLm.from_pretrained(str(folder))


def test_an_unexpected_tensor_is_named(folder: Path) -> None:
    change(
        folder / "encoder.pkl", lambda state: state.update({"forward_layer_2.x": torch.zeros(1)})
    )
    with pytest.raises(BiLmError, match=r"encoder\.pkl: unexpected tensor forward_layer_2\.x"):
        BiLm.from_pretrained(str(folder))
