"""Vectors of words that an analysis compares: combinations of the layers of a biLM, and controls."""

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

_NUM_BYTES = 256
Item = TypeVar("Item")


class LayerCombinations(NamedTuple):
    """
    names: such as "LSTM 1" or "mean"
    weights: of each layer in each combination. Shape (combinations, num_layers)
    layer_norm: whether the layers are normalized first. Shape (combinations,)
    """

    names: list[str]
    weights: Tensor
    layer_norm: Tensor

    def combine(self, layers: Tensor) -> Tensor:
        """
        Returns the vectors of words by each combination, shape (combinations, words, dim), from their layers,
        shape (num_layers, words, dim). Leaves out `gamma`, which scales all words alike.
        """
        weights = self.weights.to(layers)
        combined = torch.einsum("cl,lwd->cwd", weights, layers)
        if self.layer_norm.any():
            normalized = functional.layer_norm(layers, layers.shape[-1:])
            combined[self.layer_norm] = torch.einsum("cl,lwd->cwd", weights[self.layer_norm], normalized)
        return combined


def layer_combinations(bilm: BiLm, archives: Sequence[str | Path] = ()) -> LayerCombinations:
    """
    Returns each layer of a biLM, their mean, and the mixes that models have learned.

    # Parameters

    bilm : `BiLm`
        The biLM.
    archives : `Sequence[str | Path]`, optional (default = `()`)
        Archives, or directories of trainings, of models with this biLM.

    Raises `BiLmError` if an archive has no ELMo, or another biLM.
    """
    layers = bilm.num_layers
    names = [*map(layer_name, range(layers)), "mean"]
    rows = [*torch.eye(layers), torch.full((layers,), 1 / layers)]
    layer_norm = [False] * len(rows)
    for archive in archives:
        for placement, elmo, scalar_mix in load_mixes(archive):
            if elmo.bilm.options != bilm.options or not weights_equal(bilm, elmo.bilm.state_dict()):
                raise BiLmError(
                    f"archive {archive}: its mix at {placement} is of another biLM, or of one that was "
                    "trained with the model"
                )
            row = torch.zeros(layers)
            row[elmo.layer_numbers] = scalar_mix.normalized_weights().detach().float()
            names.append(f"{archive}, {placement}")
            rows.append(row)
            layer_norm.append(elmo.layer_norm)
    return LayerCombinations(names, torch.stack(rows), torch.tensor(layer_norm))


class Representation(NamedTuple):
    """
    embed: from sentences to the layers of each, shape (num_layers, words, dim), such as `BiLm.embed`
    combinations: of these layers
    """

    embed: Callable[[Sequence[Sequence[str]]], list[Tensor]]
    combinations: LayerCombinations


def batches_of_words(
    items: Iterable[Item], num_words: int, length: Callable[[Item], int]
) -> Iterator[list[Item]]:
    """Yields the fewest items, one after the other, that have `num_words` words or more together."""
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


def count_bytes(sentences: Sequence[Sequence[str]]) -> list[Tensor]:
    """Returns for each sentence how often its words have each byte of UTF-8. Shape (1, words, 256)."""
    return [torch.stack([_count_bytes(word) for word in words])[None] for words in sentences]


def _count_bytes(word: str) -> Tensor:
    return torch.tensor(list(word.encode())).bincount(minlength=_NUM_BYTES).float()


def random_bilm(like: BiLm, seed: int = 1) -> BiLm:
    """Returns a frozen biLM with the sizes of `like` and initial weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BiLm(like.options).to(like.boundaries.device).eval().requires_grad_(False)


def controls(bilm: BiLm, combinations: LayerCombinations) -> list[Representation]:
    """Returns a random biLM of the same sizes, with the same combinations, and a bag of characters."""
    of_bytes = LayerCombinations(["bag of characters"], torch.ones(1, 1), torch.tensor([False]))
    names = [f"random biLM, {name}" for name in combinations.names]
    return [
        Representation(random_bilm(bilm).embed, combinations._replace(names=names)),
        Representation(count_bytes, of_bytes),
    ]
