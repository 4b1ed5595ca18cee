"""Each pattern of public use gives the same with our names as with AllenNLP's."""

import inspect
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import allennlp.modules.elmo as peer
import h5py
import numpy as np
import pytest
import torch
from allennlp.common.util import lazy_groups_of
from allennlp.modules import ScalarMix
from allennlp.modules.token_embedders import ElmoTokenEmbedder
from allennlp.nn.util import remove_sentence_boundaries

import elmo_plugin
from tests.allennlp_api.conftest import write_bilm
from tests.allennlp_api.patterns import Library, Pattern, Place, applications, reading, training


def theirs_batch_to_ids(batch: Sequence[Sequence[Any]]) -> torch.Tensor:
    """AllenNLP's takes strings alone."""
    return peer.batch_to_ids([[getattr(word, "text", word) for word in words] for words in batch])


class TheirElmoEmbedder:
    """What AllenNLP had before 1.0, of the parts that it has today, and without a state."""

    def __init__(self, options_file: str, weight_file: str, cuda_device: int = -1) -> None:
        self.elmo_bilm = peer._ElmoBiLm(options_file, weight_file)

    def batch_to_embeddings(self, batch: Sequence[Sequence[Any]]) -> tuple[torch.Tensor, torch.Tensor]:
        self.elmo_bilm._elmo_lstm.reset_states()
        output = self.elmo_bilm(theirs_batch_to_ids(batch))
        pairs = [remove_sentence_boundaries(layer, output["mask"]) for layer in output["activations"]]
        return torch.stack([layer for layer, _ in pairs], dim=1), pairs[0][1]

    def embed_batch(self, batch: Sequence[Sequence[Any]]) -> list[np.ndarray]:
        vectors, _ = self.batch_to_embeddings(batch)
        return [
            of_words[:, : len(words)].detach().numpy() for of_words, words in zip(vectors, batch, strict=True)
        ]

    def embed_sentence(self, sentence: Sequence[Any]) -> np.ndarray:
        return self.embed_batch([sentence])[0]

    def embed_sentences(self, sentences: Iterable[Any], batch_size: int = 64) -> Iterator[np.ndarray]:
        for batch in lazy_groups_of(sentences, batch_size):
            yield from self.embed_batch(batch)

    def embed_file(
        self,
        input_file: TextIO,
        output_file_path: Path,
        output_format: str = "all",
        batch_size: int = 64,
        forget_sentences: bool = False,
        use_sentence_keys: bool = False,
    ) -> None:
        lines = [line.strip() for line in input_file]
        keys = lines if use_sentence_keys else list(map(str, range(len(lines))))
        write = {
            "all": np.asarray,
            "top": lambda layers: layers[-1],
            "average": lambda layers: layers.mean(0),
        }
        with h5py.File(output_file_path, "w") as file:
            vectors = self.embed_sentences([line.split() for line in lines], batch_size)
            for key, layers in zip(keys, vectors, strict=True):
                file[key] = write[output_format](layers)
            if not forget_sentences and not use_sentence_keys:
                index = file.create_dataset("sentence_to_index", (1,), dtype=h5py.string_dtype())
                index[0] = json.dumps(dict(zip(lines, keys, strict=True)))


THEIRS = Library(
    peer.Elmo,
    TheirElmoEmbedder,
    ElmoTokenEmbedder,
    ScalarMix,
    theirs_batch_to_ids,
)
OURS = Library(*(getattr(elmo_plugin, name) for name in Library.__dataclass_fields__))


def patterns_in(module: ModuleType) -> list[Pattern]:
    functions = [each for _, each in inspect.getmembers(module, inspect.isfunction)]
    return [each for each in functions if list(inspect.signature(each).parameters) == ["library", "place"]]


PATTERNS = [pattern for module in (reading, training, applications) for pattern in patterns_in(module)]


def assert_same(actual: Any, expected: Any, where: str = "") -> None:
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), where
        for name, value in expected.items():
            assert_same(actual[name], value, f"{where}[{name!r}]")
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected), where
        for number, pair in enumerate(zip(actual, expected, strict=True)):
            assert_same(*pair, f"{where}[{number}]")
    elif isinstance(expected, torch.Tensor):
        torch.testing.assert_close(
            actual, expected, atol=1e-5, rtol=1e-5, msg=lambda message: f"{where}: {message}"
        )
    elif isinstance(expected, np.ndarray | float):
        np.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-5, err_msg=where)
    else:
        assert actual == expected, where


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_a_pattern_of_public_use_gives_what_it_gives_with_allennlp(
    pattern: Pattern, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, weights = write_bilm(tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    results = []
    for library in (THEIRS, OURS):
        folder = tmp_path / str(len(results))
        folder.mkdir()
        results.append(pattern(library, Place(options, weights, folder)))
    assert_same(results[1], results[0])
