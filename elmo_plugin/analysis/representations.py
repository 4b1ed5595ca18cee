"""Vectors of words that an analysis compares: combinations of a biLM's layers, and controls."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from elmo_plugin.archives import load_mixes
from elmo_plugin.bilm import BiLm, Layers, select_layers
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding import LayerMix, SqliteCache, layer_name

Item = TypeVar("Item")


class Combination(NamedTuple):
    """
    How the layers become one vector of a word: `layers` is as in `select_layers`. With `layer_norm`
    each layer is normalized first.
    """

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
    # Combinations of these layers, by names such as "LSTM 1" or "mean".
    combinations: dict[str, Combination]

    def combine(self, layers: Tensor) -> Tensor:
        """
        Returns each combination of layers, shape (combinations, words, dim), on the CPU, given all
        layers, shape (num_layers, words, dim).
        """
        combined = [combination.apply(layers) for combination in self.combinations.values()]
        return torch.stack(combined).cpu()


def layer_representations(
    bilm: BiLm, archives: Sequence[str | Path] = (), trust: bool = False
) -> Representations:
    """
    Returns each layer of a biLM, their mean, and the mixes that the models in `archives` have
    learned. See `load_archive` for `trust`.

    Raises `BiLmError` if a model does not use ELMo, or has another biLM.
    """
    combinations = {layer_name(number): Combination(number) for number in range(bilm.num_layers)}
    combinations["mean"] = Combination("mean")
    for archive in archives:
        for trained in load_mixes(archive, trust=trust):
            if trained.bilm.digest("float32") != bilm.digest("float32"):
                raise BiLmError(
                    f"archive {archive}: its ELMo at {trained.placement} has another biLM, or "
                    "trained it"
                )
            name = f"{archive}, {trained.placement}"
            combinations[name] = _combination_of_mix(trained.mix, bilm.num_layers)
    return Representations(bilm.embed, combinations)


def _combination_of_mix(mix: LayerMix, num_layers: int) -> Combination:
    """
    Returns the combination of layers that a model has learned. Its factor `gamma` is left out,
    because it changes neither cosines nor probes.
    """
    weights = [0.0] * num_layers  # layers that are not mixed have the weight 0
    normalized = mix.scalar_mix.normalized_weights().tolist()
    for number, weight in zip(mix.layer_numbers, normalized, strict=True):
        weights[number] = weight
    return Combination(weights, mix.layer_norm)


def controls(bilm: BiLm, representations: Representations) -> list[Representations]:
    """
    Returns controls to compare representations with: the same combinations of a random biLM of the
    same sizes, and a bag of characters.
    """
    combinations = {
        f"random biLM, {name}": combination
        for name, combination in representations.combinations.items()
    }
    only_layer = Combination(layers=0)  # `count_bytes` returns a single layer
    return [
        Representations(random_bilm(bilm).embed, combinations),
        Representations(count_bytes, {"bag of characters": only_layer}),
    ]


def load_representations(
    source: str,
    *,
    mixes: Sequence[str],
    with_controls: bool,
    trust: bool,
    precision: str,
    device: str,
    cache: str | None,
) -> list[Representations]:
    """
    Loads a biLM, and returns its `layer_representations`, then the `controls` if requested.

    # Parameters

    source, precision, device : `str`
        See `BiLm.from_pretrained`.
    mixes : `Sequence[str]`
        Archives of models. Their mixes of the biLM's layers are compared as well.
    with_controls : `bool`
        Whether `controls` are added.
    trust : `bool`
        See `load_archive`.
    cache : `str`, optional
        The folder of a `SqliteCache` for the biLM's vectors. By default the folder that the
        environment variable `ELMO_PLUGIN_CACHE` names, if it is set; otherwise nothing is cached.
    """
    bilm = BiLm.from_pretrained(source, precision, device)
    layers = layer_representations(bilm, mixes, trust=trust)
    cache_folder = cache or os.environ.get("ELMO_PLUGIN_CACHE")
    if cache_folder:
        embed_with_cache = partial(bilm.embed, cache=SqliteCache(cache_folder))
        layers = Representations(embed_with_cache, layers.combinations)
    if not with_controls:
        return [layers]
    return [layers, *controls(bilm, layers)]


def random_bilm(bilm: BiLm) -> BiLm:
    """
    Returns a frozen biLM with the same options on the same device, whose weights are random: it was
    never trained.
    """
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay the same
        torch.manual_seed(1)  # always the same weights
        untrained = BiLm(bilm.options)
    untrained.to(bilm.device)
    untrained.eval()
    return untrained.requires_grad_(False)


def count_bytes(sentences: Sequence[Sequence[str]]) -> list[Tensor]:
    """
    Returns how often each byte of UTF-8 occurs in each word. The counts of a sentence have the
    shape (1, words, 256), as if they were the only layer of a biLM.
    """
    counted = []
    for words in sentences:
        counts = []
        for word in words:
            # The type is given because torch makes a float tensor of the empty word's bytes.
            word_bytes = torch.tensor(list(word.encode()), dtype=torch.long)
            counts.append(word_bytes.bincount(minlength=256).float())
        counted.append(torch.stack(counts).unsqueeze(0))
    return counted


class HasWords(Protocol):
    """A sentence that an analysis reads."""

    @property
    def words(self) -> Sequence[str]: ...


def num_words_in(sentence: HasWords) -> int:
    """Returns the number of words in a sentence."""
    return len(sentence.words)


def batches_of_words(
    items: Iterable[Item], num_words: int, length: Callable[[Item], int]
) -> Iterator[list[Item]]:
    """
    Yields batches of consecutive items, such as sentences. A batch ends with the item by which it
    reaches `num_words` words. `length` returns the number of words in an item.
    """
    batch: list[Item] = []
    words_in_batch = 0
    for item in items:
        batch.append(item)
        words_in_batch += length(item)
        if words_in_batch >= num_words:
            yield batch
            batch = []
            words_in_batch = 0
    if batch:
        yield batch
