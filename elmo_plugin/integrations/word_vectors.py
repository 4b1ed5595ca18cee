"""A frozen biLM for other libraries: named in their configurations, stored with their models."""

import copy
import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOptions, Layers, check_layers, get_precision, select_layers
from elmo_plugin.bilm.io import Source
from elmo_plugin.common.formats.torch_files import check_all_finite
from elmo_plugin.common.process import get_device


class WordVectors:
    """
    Embeds words with a frozen biLM. The biLM is loaded from its source when it is first used. A
    pipeline that was stored sets the stored biLM before, so it does not need the source.

    See `BiLm.from_pretrained` for `source` and `precision`. `layers` chooses the vector of a word:
    the "mean" of all layers, the "top" one, the "token" layer, the layer with this number, the sum
    of the layers with these weights, or "all", each layer separately.

    Raises `BiLmError` if a parameter is wrong. Whether the layers fit the biLM is checked when it
    is loaded.
    """

    def __init__(self, source: Source, layers: Layers = "mean", precision: str = "float32") -> None:
        check_layers(layers)
        self.source = source
        self.layers = layers
        self.precision = get_precision(precision).name
        self._bilm: BiLm | None = None

    @property
    def bilm(self) -> BiLm:
        """
        The biLM, loaded on first access. Raises `BiLmError` if it cannot be loaded, or lacks a
        layer that was chosen.
        """
        if self._bilm is None:
            bilm = BiLm.from_pretrained(self.source, self.precision)
            check_layers(self.layers, bilm.num_layers)
            self._bilm = bilm
        return self._bilm

    @bilm.setter
    def bilm(self, bilm: BiLm) -> None:
        check_layers(self.layers, bilm.num_layers)
        self._bilm = bilm

    def restore(self, options: dict[str, Any], weights: Mapping[str, Tensor]) -> None:
        """
        Sets the biLM that was stored as its `options.to_dict()` and its `state_dict()`. Raises
        `BiLmError` if its weights contain NaN or infinite numbers.
        """
        check_all_finite(weights.items(), "the stored biLM")
        self.bilm = BiLm(
            BiLmOptions.from_dict(options), precision=self.precision, weights=weights.items()
        )

    @property
    def num_features(self) -> int:
        """The number of values in a word's vector. For "all", the layers are concatenated."""
        num_layers = 1
        if self.layers == "all":
            num_layers = self.bilm.num_layers
        return num_layers * self.bilm.output_dim

    def to(self, device: str) -> "WordVectors":
        """
        Moves the biLM to a device of torch, such as "cuda". Raises `BiLmError` if this machine does
        not have the device.
        """
        target = get_device(device)
        # `BiLm.to` discards what the biLM has derived from its weights, so it is not called for a
        # biLM that is there already.
        if self.bilm.device != target:
            self.bilm.to(target)
        return self

    def digest(self) -> str:
        """Returns 32 hexadecimal digits that identify the biLM's weights and all settings."""
        content = self.bilm.digest() + json.dumps(self.layers).encode()
        return blake2b(content, digest_size=16).hexdigest()

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """
        Returns a float32 array for each sentence, shape (words, dim), or (num_layers, words, dim)
        for "all". Raises `BiLmError` if a sentence is not a list of words.
        """
        embedded = self.bilm.embed(list(sentences))
        return [select_layers(layers, self.layers).cpu().numpy() for layers in embedded]

    def __getstate__(self) -> dict[str, Any]:
        """Pickles the biLM on the CPU, because the device may not exist on another machine."""
        state = dict(self.__dict__)
        if self._bilm is not None:
            state["_bilm"] = copy.deepcopy(self._bilm).cpu()
        return state
