"""Words that are cut to the same bytes disturb no later word, on any public way to vectors."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from elmo_plugin import BiLm, ElmoRepresentations
from elmo_plugin.embed_files import EmbedSettings, embed_file
from elmo_plugin.embedding import MemoryCache, SqliteCache
from elmo_plugin.integrations.spacy_component import embed_sentences
from elmo_plugin.integrations.word_vectors import WordVectors
from elmo_plugin.migration.allennlp_api import Elmo, ElmoEmbedder, batch_to_ids
from tests.small_bilm import loud_bilm, write_pair

ADDRESS = "https://www.example.org/a/long/address/with/more/than/48/bytes?page="
CHINESE = "中华人民共和国全国人民代表大会"
BATCHES = [
    [[ADDRESS + "1", ADDRESS + "2", "cat"], [CHINESE + "一二三", CHINESE + "一二四", "狗"]],
    [["dog", "a"], ["bird"]],
    [["cat"], ["狗", "bird", ADDRESS + "3"], ["dog", "cat", "a"]],
    [[ADDRESS + "2", "dog"], ["cat", CHINESE + "一二"], ["new", "words", "here", "a"]],
]
Embed = Callable[[list[list[str]]], list[np.ndarray]]  # (num_layers, words, dim) for each sentence


def _plain(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    return lambda sentences: [layers.numpy() for layers in bilm.embed(sentences)]


def _encoded(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    return lambda sentences: [
        text.vectors for text in bilm.encode(sentences, layers="all", output="numpy")
    ]


def _in_memory(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    cache = MemoryCache(max_gb=1e-5)
    return lambda sentences: [layers.numpy() for layers in bilm.embed(sentences, cache=cache)]


def _in_sqlite(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    cache = SqliteCache(str(folder / "cache"))
    return lambda sentences: [layers.numpy() for layers in bilm.embed(sentences, cache=cache)]


def _represented(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    elmo = ElmoRepresentations(bilm, num_mixes=1)

    def embed(sentences: list[list[str]]) -> list[np.ndarray]:
        bilm.embed(sentences)  # both share the word cache
        layers, _ = elmo.run_bilm(bilm.character_ids(sentences))
        return [layers[:, row, : len(words)].numpy() for row, words in enumerate(sentences)]

    return embed


def _drop_in(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    elmo = Elmo(files["options"], files["weights"], keep_sentence_boundaries=True)

    def embed(sentences: list[list[str]]) -> list[np.ndarray]:
        activations = elmo._elmo_lstm(batch_to_ids(sentences))["activations"]
        layers = torch.stack(activations)[:, :, 1:]
        return [layers[:, row, : len(words)].numpy() for row, words in enumerate(sentences)]

    return embed


def _embedder(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    return ElmoEmbedder(files["options"], files["weights"]).embed_batch


def _file(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    def embed(sentences: list[list[str]]) -> list[np.ndarray]:
        text = folder / f"{len(list(folder.iterdir()))}.txt"
        text.write_text("\n".join(" ".join(words) for words in sentences), encoding="utf-8")
        output = text.with_suffix(".hdf5")
        settings = EmbedSettings(files, batch_size=2)
        embed_file(text, output, settings, show_progress=False)
        with h5py.File(output) as file:
            return [file[str(number)][()] for number in range(len(sentences))]

    return embed


def _spacy(bilm: BiLm, files: dict[str, str], folder: Path) -> Embed:
    vectors = WordVectors(files, "all")
    return lambda sentences: embed_sentences(vectors, [[words] for words in sentences])


WAYS = [
    _plain,
    _encoded,
    _in_memory,
    _in_sqlite,
    _represented,
    _drop_in,
    _embedder,
    _file,
    _spacy,
]


@pytest.fixture(scope="module")
def fresh_vectors(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[str]], np.ndarray]:
    """Returns the layers of a sentence from a biLM that has seen no other, computed once for all ways."""
    files = write_pair(loud_bilm(), tmp_path_factory.mktemp("fresh"))

    @cache
    def embed(words: tuple[str, ...]) -> np.ndarray:
        fresh = BiLm.from_pretrained(files)
        fresh.token_encoder.word_cache_size = 0
        return fresh.embed([words])[0].numpy()

    return lambda words: embed(tuple(words))


@pytest.mark.parametrize("way", WAYS)
def test_each_word_has_the_vectors_that_a_fresh_bilm_gives_it(
    way: Callable[[BiLm, dict[str, str], Path], Embed],
    tmp_path: Path,
    fresh_vectors: Callable[[list[str]], np.ndarray],
) -> None:
    files = write_pair(loud_bilm(), tmp_path)
    folder = tmp_path / "work"
    folder.mkdir()
    embed = way(BiLm.from_pretrained(files), files, folder)
    for sentences in [*BATCHES, *reversed(BATCHES)]:
        for words, layers in zip(sentences, embed(sentences), strict=True):
            np.testing.assert_allclose(layers, fresh_vectors(words), atol=1e-5, rtol=1e-5)
