"""The published models' own activations, and those of a small model of ours as AllenNLP computed
them.
"""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.io.hdf5_weights import read_weights, write_weights
from tests.bilm.paths import ComputePath, every_path, take
from tests.fixtures.make_bilm_fixture import FOLDER as OWN
from tests.fixtures.make_bilm_fixture import SENTENCES as OWN_SENTENCES

PUBLISHED = {"elmo": "sentences.json", "elmo_no_skip": "lm_embeddings_sentences.json"}


def _ids(sentences: list[list[str]], path: ComputePath) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids(sentences)).to(path.device)


def _assert_close(actual: Tensor, expected: Tensor, path: ComputePath) -> None:
    torch.testing.assert_close(actual.cpu(), expected, atol=path.tolerance, rtol=0.0)


def _published(folder: Path, name: str) -> tuple[BiLm, list[list[tuple[list[str], Tensor]]]]:
    """
    The model, and its batches: for each sentence the words and the top layer, (words, output_dim).
    """
    texts = json.loads((folder / PUBLISHED[name]).read_text())
    files = [h5py.File(folder / f"lm_embeddings_{k}.hdf5", "r") for k in range(3)]
    batches = [
        [
            (
                texts[k][i].split(),
                torch.from_numpy(np.concatenate(list(files[k][str(i)][()]), axis=-1)),
            )
            for k in range(3)
        ]
        for i in range(10)
    ]
    return BiLm.from_files(folder / "options.json", folder / "lm_weights.hdf5"), batches


@every_path
@pytest.mark.parametrize("name", ["elmo", pytest.param("elmo_no_skip", marks=pytest.mark.slow)])
def test_stateful_activations_of_ten_batches_equal_the_published_ones(
    shared: Path, name: str, path: ComputePath
) -> None:
    bilm, batches = _published(shared / "parity" / name, name)
    take(bilm, path)
    state = None
    for batch in batches:
        output = bilm(_ids([words for words, _ in batch], path), state, keep_state=True)
        state = output.state
        for row, (words, expected) in enumerate(batch):
            _assert_close(output.layers[-1, row, : len(words)], expected, path)


@every_path
@pytest.mark.parametrize("name", ["elmo", pytest.param("elmo_no_skip", marks=pytest.mark.slow)])
def test_without_state_only_the_first_batch_equals_the_published_activations(
    shared: Path, name: str, path: ComputePath
) -> None:
    bilm, batches = _published(shared / "parity" / name, name)
    take(bilm, path)
    for vector, (_, expected) in zip(
        bilm.embed([words for words, _ in batches[0]]), batches[0], strict=True
    ):
        _assert_close(vector[-1], expected, path)
    later = bilm.embed([words for words, _ in batches[1]])
    assert all(
        (vector[-1].cpu() - old).abs().max() > 0.1
        for vector, (_, old) in zip(later, batches[1], strict=True)
    )


@every_path
def test_the_token_layer_equals_the_published_one(shared: Path, path: ComputePath) -> None:
    folder = shared / "parity" / "elmo"
    bilm = take(BiLm.from_files(folder / "options.json", folder / "lm_weights.hdf5"), path)
    words = (folder / "vocab_test.txt").read_text(encoding="utf-8").splitlines()
    with h5py.File(folder / "elmo_token_embeddings.hdf5", "r") as file:
        expected = torch.from_numpy(file["embedding"][()])
    _assert_close(bilm.token_encoder(_ids([words], path)[0]), expected, path)


@every_path
def test_stateful_activations_equal_allennlps(path: ComputePath) -> None:
    bilm = take(BiLm.from_files(OWN / "options.json", OWN / "weights.hdf5"), path)
    state = None
    with h5py.File(OWN / "activations.hdf5", "r") as file:
        for number, sentences in enumerate(OWN_SENTENCES):
            output = bilm(_ids(sentences, path), state, keep_state=True)
            state = output.state
            _assert_close(output.layers, torch.from_numpy(file[str(number)][()]), path)


@pytest.mark.parametrize("name", [*PUBLISHED, "own"])
def test_importing_and_exporting_weights_keeps_every_bit(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if name == "own":
        options_file, weights_file = OWN / "options.json", OWN / "weights.hdf5"
    else:
        folder = request.getfixturevalue("shared") / "parity" / name
        options_file, weights_file = folder / "options.json", folder / "lm_weights.hdf5"
    options = BiLmOptions.from_file(options_file)
    bilm = BiLm(options)
    bilm.load_state_dict(dict(read_weights(weights_file, options)))
    write_weights(tmp_path / "weights.hdf5", bilm.state_dict(), options)
    before, after = _datasets(weights_file), _datasets(tmp_path / "weights.hdf5")
    read = {dataset: values for dataset, values in before.items() if dataset in after}
    assert set(before) - set(read) <= {"softmax/W", "softmax/b"}, (
        "only what is no part of the biLM is left"
    )
    for dataset, values in read.items():
        assert values.dtype == after[dataset].dtype
        assert values.tobytes() == after[dataset].tobytes(), dataset


def _datasets(path: Path) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    with h5py.File(path, "r") as file:
        file.visititems(
            lambda name, item: (
                found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None
            )
        )
    return found
