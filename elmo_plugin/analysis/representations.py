"""Vectors of words that an analysis compares: a biLM's, and those of controls."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.analysis.combinations import LayerCombinations
from elmo_plugin.bilm import BiLm

_NUM_BYTES = 256


class Representation(NamedTuple):
    """
    embed: from sentences to the layers of each, shape (num_layers, words, dim), such as `BiLm.embed`
    combinations: of these layers
    """

    embed: Callable[[Sequence[Sequence[str]]], list[Tensor]]
    combinations: LayerCombinations


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
