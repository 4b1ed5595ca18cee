"""Vectors of words that an analysis compares: combinations of a biLM's layers, and controls."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from elmo_plugin.archives import load_mixes
from elmo_plugin.bilm import BiLm, Layers, select_layers
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding import SqliteCache, layer_name

Item = TypeVar("Item")


class Combination(NamedTuple):
    """A selection of layers, after layer normalization if `layer_norm`."""

    layers: Layers
    layer_norm: bool = False

    def apply(self, layers: Tensor) -> Tensor:
        """Returns shape (words, dim) for layers of shape (num_layers, words, dim)."""
        if self.layer_norm:
            layers = functional.layer_norm(layers, layers.shape[-1:])
        return select_layers(layers, self.layers)


class Representations(NamedTuple):
    """Several vectors of each word."""

    # Returns the layers of each sentence, shape (num_layers, words, dim), as `BiLm.embed` does.
    embed: Callable[[Sequence[Sequence[str]]], list[Tensor]]
    # Of these layers, by names such as "LSTM 1" or "mean".
    combinations: dict[str, Combination]

    def combine(self, layers: Tensor) -> Tensor:
        """Returns shape (combinations, words, dim), on the CPU, for (num_layers, words, dim)."""
        return torch.stack([each.apply(layers) for each in self.combinations.values()]).cpu()


def layer_representations(
    bilm: BiLm, archives: Sequence[str | Path] = (), trust: bool = False
) -> Representations:
    """
    Returns each layer of a biLM, their mean, and the mixes that models with this biLM have learned,
    without their `gamma`. `trust` is `load_archive`'s.

    Raises `BiLmError` if an archive is without ELMo, or has another biLM.
    """
    combinations = {layer_name(number): Combination(number) for number in range(bilm.num_layers)}
    combinations["mean"] = Combination("mean")
    for archive in archives:
        for placement, its_bilm, mix in load_mixes(archive, trust):
            if its_bilm.digest("float32") != bilm.digest("float32"):
                raise BiLmError(
                    f"archive {archive}: its ELMo at {placement} has another biLM, or trained it"
                )
            normalized = mix.scalar_mix.normalized_weights().tolist()
            learned = dict(zip(mix.layer_numbers, normalized, strict=True))
            weights = [learned.get(number, 0.0) for number in range(bilm.num_layers)]
            combinations[f"{archive}, {placement}"] = Combination(weights, mix.layer_norm)
    return Representations(bilm.embed, combinations)


def controls(bilm: BiLm, representations: Representations) -> list[Representations]:
    """Returns the same combinations of a random biLM of the same sizes, and a bag of characters."""
    combinations = {
        f"random biLM, {name}": each for name, each in representations.combinations.items()
    }
    return [
        Representations(random_bilm(bilm).embed, combinations),
        Representations(count_bytes, {"bag of characters": Combination(0)}),
    ]


def load_representations(
    source: str,
    archives: Sequence[str | Path] = (),
    trust: bool = False,
    with_controls: bool = False,
    precision: str = "float32",
    device: str = "cpu",
    cache: str | None = None,
) -> list[Representations]:
    """Loads a biLM, and returns its `layer_representations` and maybe `controls`."""
    bilm = BiLm.from_pretrained(source, precision, device)
    layers = layer_representations(bilm, archives, trust)
    cache = cache or os.environ.get("ELMO_PLUGIN_CACHE")
    if cache:
        layers = layers._replace(embed=partial(bilm.embed, cache=SqliteCache(cache)))
    if not with_controls:
        return [layers]
    return [layers, *controls(bilm, layers)]


def random_bilm(bilm: BiLm, seed: int = 1) -> BiLm:
    """Returns a frozen biLM of the same sizes with initial weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BiLm(bilm.options).to(bilm.boundaries.device).eval().requires_grad_(False)


def count_bytes(sentences: Sequence[Sequence[str]]) -> list[Tensor]:
    """Counts each byte of UTF-8 in the words of each sentence. Shape (1, words, 256)."""

    def count(word: str) -> Tensor:
        return torch.tensor(list(word.encode())).bincount(minlength=256).float()

    return [torch.stack([count(word) for word in words])[None] for words in sentences]


def batches_of_words(
    items: Iterable[Item], num_words: int, length: Callable[[Item], int]
) -> Iterator[list[Item]]:
    """Yields batches of consecutive items; a batch ends when it has `num_words` words or more."""
    batch: list[Item] = []
    words = 0
    for item in items:
        batch.append(item)
        words += length(item)
        if words >= num_words:
            yield batch
            batch = []
            words = 0
    if batch:
        yield batch
