"""Vectors of words that an analysis compares: combinations of a biLM's layers, and controls."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from elmo_plugin.archives import load_mixes
from elmo_plugin.bilm import BiLm, weights_equal
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding import layer_name

Item = TypeVar("Item")


class Representations(NamedTuple):
    """
    Vectors of words, as weighted sums of layers.

    embed: returns the layers of each sentence, shape (num_layers, words, dim), as `BiLm.embed` does
    names: of the combinations, such as "LSTM 1" or "mean"
    weights: of the layers in each. Shape (combinations, num_layers)
    layer_norm: whether the layers are normalized first. Shape (combinations,)
    """

    embed: Callable[[Sequence[Sequence[str]]], list[Tensor]]
    names: list[str]
    weights: Tensor
    layer_norm: Tensor

    def combine(self, layers: Tensor) -> Tensor:
        """Returns shape (combinations, words, dim) for layers of shape (num_layers, words, dim)."""
        weights = self.weights.to(layers)
        combined = torch.einsum("cl,lwd->cwd", weights, layers)
        if self.layer_norm.any():
            normalized = functional.layer_norm(layers, layers.shape[-1:])
            combined[self.layer_norm] = torch.einsum("cl,lwd->cwd", weights[self.layer_norm], normalized)
        return combined


def layer_representations(bilm: BiLm, archives: Sequence[str | Path] = ()) -> Representations:
    """
    Returns each layer of a biLM, their mean, and the mixes that models with this biLM have learned, without
    their `gamma`.

    Raises `BiLmError` if an archive has no ELMo, or another biLM.
    """
    layers = bilm.num_layers
    names = [*map(layer_name, range(layers)), "mean"]
    rows = [*torch.eye(layers), torch.full((layers,), 1 / layers)]
    layer_norm = [False] * len(rows)
    for archive in archives:
        for placement, elmo, scalar_mix in load_mixes(archive):
            if elmo.bilm.options != bilm.options or not weights_equal(bilm, elmo.bilm.state_dict()):
                raise BiLmError(f"archive {archive}: its ELMo at {placement} has another biLM, or trained it")
            row = torch.zeros(layers)
            row[elmo.layer_numbers] = scalar_mix.normalized_weights().detach().float()
            names.append(f"{archive}, {placement}")
            rows.append(row)
            layer_norm.append(elmo.layer_norm)
    return Representations(bilm.embed, names, torch.stack(rows), torch.tensor(layer_norm))


def controls(bilm: BiLm, representations: Representations) -> list[Representations]:
    """Returns the same combinations of a random biLM of the same sizes, and a bag of characters."""
    names = [f"random biLM, {name}" for name in representations.names]
    return [
        representations._replace(embed=random_bilm(bilm).embed, names=names),
        Representations(count_bytes, ["bag of characters"], torch.ones(1, 1), torch.tensor([False])),
    ]


def random_bilm(bilm: BiLm, seed: int = 1) -> BiLm:
    """Returns a frozen biLM of the same sizes with initial weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BiLm(bilm.options).to(bilm.boundaries.device).eval().requires_grad_(False)


def count_bytes(sentences: Sequence[Sequence[str]]) -> list[Tensor]:
    """Counts each byte of UTF-8 in the words of each sentence. Shape (1, words, 256)."""

    def count(word: str) -> Tensor:
        return torch.tensor(list(word.encode())).bincount(minlength=256).float()

    return [torch.stack(list(map(count, words)))[None] for words in sentences]


def batches_of_words(
    items: Iterable[Item], num_words: int, length: Callable[[Item], int]
) -> Iterator[list[Item]]:
    """Yields batches of consecutive items, each with just `num_words` words or more."""
    batch: list[Item] = []
    words = 0
    for item in items:
        batch.append(item)
        words += length(item)
        if words >= num_words:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch
