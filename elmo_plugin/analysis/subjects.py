"""What an analysis looks at: a biLM, and what it is compared with."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from elmo_plugin.analysis.mixes import LayerMixes
from elmo_plugin.bilm import BiLm, Cache

_NUM_BYTES = 256


class EmbedsWords(Protocol):
    """Gives words vectors: a biLM, or what it is compared with."""

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """Returns for each sentence a tensor of shape (num_layers, words, dim)."""


class Subject(NamedTuple):
    """
    What an analysis looks at.

    vectors: gives words their layers
    mixes: of these layers
    """

    vectors: EmbedsWords
    mixes: LayerMixes


class CachedVectors:
    """
    Gives words the layers of a frozen biLM, which are kept in a cache.

    # Parameters

    bilm : `BiLm`
        The biLM.
    cache : `Cache`
        Where its layers are kept.
    """

    def __init__(self, bilm: BiLm, cache: Cache) -> None:
        self._bilm = bilm
        self._cache = cache

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """Returns for each sentence a tensor of shape (num_layers, words, dim)."""
        return self._bilm.embed(sentences, self._cache)


class BagOfCharacters:
    """Gives a word the counts of its bytes in UTF-8, as one layer of 256 dimensions."""

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """Returns for each sentence a tensor of shape (1, words, 256)."""
        return [torch.stack([_count_bytes(word) for word in words])[None] for words in sentences]


def _count_bytes(word: str) -> Tensor:
    return torch.tensor(list(word.encode())).bincount(minlength=_NUM_BYTES).float()


def random_bilm(like: BiLm, seed: int = 1) -> BiLm:
    """Returns a frozen biLM with the sizes of `like`, with weights as a training begins with them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BiLm(like.options).to(like.boundaries.device).eval().requires_grad_(False)


def controls(bilm: BiLm, mixes: LayerMixes) -> list[Subject]:
    """Returns a random biLM of the same sizes, with the same mixes, and a bag of characters."""
    of_bytes = LayerMixes(["bag of characters"], torch.ones(1, 1), torch.tensor([False]))
    names = [f"random biLM, {name}" for name in mixes.names]
    return [
        Subject(random_bilm(bilm), mixes._replace(names=names)),
        Subject(BagOfCharacters(), of_bytes),
    ]
