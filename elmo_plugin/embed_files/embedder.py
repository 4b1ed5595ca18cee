"""Sentences to arrays, in the layout that was asked for."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, load_bilm
from elmo_plugin.embed_files.buckets import length_buckets
from elmo_plugin.embed_files.mixture import load_mixture
from elmo_plugin.embed_files.settings import Settings

PASSAGE_VECTOR_BYTES = 2**27  # that the layers of a passage take, about
_BYTES_OF_WORD = 4  # of text, the space behind it included; in most languages it has more


class AllLayers(nn.Module):
    def forward(self, layers: Tensor) -> Tensor:
        return layers


class TopLayer(nn.Module):
    def forward(self, layers: Tensor) -> Tensor:
        return layers[-1]


class AverageOfLayers(nn.Module):
    def forward(self, layers: Tensor) -> Tensor:
        return layers.mean(dim=0)


_LAYOUTS = {"all": AllLayers, "top": TopLayer, "average": AverageOfLayers}


class Embedder:
    """
    # Parameters

    bilm : `BiLm`
        Frozen.
    layout : `nn.Module`
        From layers, shape (num_layers, words, dim), to what is kept of them, shape (..., words, dim).
    settings : `Settings`
        How sentences are put into batches, and the type of the arrays.
    """

    def __init__(self, bilm: BiLm, layout: nn.Module, settings: Settings) -> None:
        bilm.max_batch_tokens = settings.max_batch_tokens
        self._bilm, self._layout, self._settings = bilm, layout, settings

    @classmethod
    def load(cls, settings: Settings, device: torch.device | str = "cpu") -> "Embedder":
        """Raises `BiLmError` where the settings name no usable biLM."""
        layout: nn.Module
        if settings.layout == "mix":
            bilm, layout = load_mixture(str(settings.bilm), settings.placement, settings.precision)
        else:
            bilm, layout = load_bilm(settings.bilm, settings.precision), _LAYOUTS[settings.layout]()
        return cls(bilm.to(device), layout.to(device), settings)

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape of what is kept of a word."""
        layers = (self._bilm.num_layers,) if self._settings.layout == "all" else ()
        return (*layers, self._bilm.output_dim)

    @property
    def passage_bytes(self) -> int:
        """How much text is embedded at a time, so that its vectors are about `PASSAGE_VECTOR_BYTES`."""
        bytes_of_vectors = 4 * self._bilm.num_layers * self._bilm.output_dim
        return max(PASSAGE_VECTOR_BYTES * _BYTES_OF_WORD // bytes_of_vectors, 1)

    def digest(self) -> str:
        """Tells the content of the biLM, and what a task has learned of the layout."""
        learned = {name: tensor.tolist() for name, tensor in self._layout.state_dict().items()}
        of_layout = f"{self._layout} {learned}".encode()
        return blake2b(self._bilm.digest() + of_layout, digest_size=16).hexdigest()

    @torch.no_grad()
    def embed(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """
        The same bits for the same sentences, whatever was embedded before.

        # Parameters

        sentences : `Sequence[Sequence[str]]`
            The words of each sentence.

        # Returns

        `list[np.ndarray]`
            Per sentence an array of shape (num_layers, words, dim) or (words, dim).
        """
        self._bilm.clear_type_cache()  # which were encoded in other batches, that is with other rounding
        dtype = getattr(torch, self._settings.dtype)
        lengths = [len(sentence) for sentence in sentences]
        arrays: dict[int, np.ndarray] = {}
        for bucket in length_buckets(lengths, self._settings.batch_size, self._settings.max_batch_tokens):
            of_sentences = self._bilm.embed([sentences[number] for number in bucket])
            for number, layers in zip(bucket, of_sentences, strict=True):
                arrays[number] = self._layout(layers).to(dtype).cpu().numpy()
        return [arrays[number] for number in range(len(sentences))]
