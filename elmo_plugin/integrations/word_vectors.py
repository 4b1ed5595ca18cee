"""A frozen biLM for other libraries: named in their configurations, stored with what they train."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions, get_precision, load_bilm
from elmo_plugin.bilm.io import Checkpoint, Source

MEAN, ALL = "mean", "all"
_OPTIONS = "options.json"  # among the stored weights


class WordVectors:
    """
    Embeds words with a frozen biLM, which is loaded on first use: a stored pipeline contains it, and does not
    need the source that its configuration names.

    # Parameters

    source : `str | Mapping[str, str]`
        See `load_bilm`.
    layers : `str | int`, optional (default = `"mean"`)
        What a word's vector is: the "mean" of all layers, the "top" one, the "token" layer, the layer with
        this number, or "all", each by itself.
    mixing_weights : `Sequence[float] | None`, optional (default = `None`)
        The weight of each layer in the mean, scaled here to sum to one; equal if not given.
    precision : `str`, optional (default = `"float32"`)
        See `BiLm`.

    Raises `BiLmError` for wrong `layers`, `mixing_weights` or `precision`; whether they fit the biLM is
    checked when it is loaded.
    """

    def __init__(
        self,
        source: Source,
        layers: str | int = MEAN,
        mixing_weights: Sequence[float] | None = None,
        precision: str = "float32",
    ) -> None:
        named = (MEAN, "top", "token", ALL)
        if layers not in named and type(layers) is not int:
            raise BiLmError(f"layers is one of {', '.join(named)}, or the number of a layer, not {layers!r}")
        if mixing_weights is not None and (layers != MEAN or not sum(mixing_weights) > 0):
            raise BiLmError('mixing_weights, of which some are positive, go with layers "mean"')
        self.source = source
        self.layers = layers
        self.mixing_weights = None if mixing_weights is None else [float(weight) for weight in mixing_weights]
        self.precision = get_precision(precision).name
        self._bilm: BiLm | None = None

    @property
    def bilm(self) -> BiLm:
        """Loads the biLM on first access. Raises `BiLmError` if it cannot, or if it lacks the layers."""
        return self._bilm or self._take(load_bilm(self.source, self.precision))

    @property
    def num_features(self) -> int:
        """The numbers that a word gets, those of several layers together."""
        return self.bilm.output_dim * (self.bilm.num_layers if self.layers == ALL else 1)

    def digest(self) -> str:
        """Returns 32 hexadecimal digits that identify the biLM's weights and all settings."""
        settings = json.dumps([self.layers, self.mixing_weights]).encode()
        return blake2b(self.bilm.digest() + settings, digest_size=16).hexdigest()

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """
        Embeds the words of each sentence. A sentence may be empty.

        # Returns

        `list[np.ndarray]`
            Per sentence an array of shape (words, dim), or (num_layers, words, dim) for "all", float32.
        """
        return [self._chosen(layers).cpu().numpy() for layers in self.bilm.embed(sentences)]

    def to_bytes(self) -> bytes:
        """Returns the weights and the options of the biLM, for `from_bytes`."""
        weights = {name: tensor.cpu().contiguous() for name, tensor in self.bilm.state_dict().items()}
        options = json.dumps(self.bilm.options.to_dict()).encode()
        return safetensors.torch.save({**weights, _OPTIONS: torch.tensor(list(options), dtype=torch.uint8)})

    def from_bytes(self, content: bytes) -> "WordVectors":
        """Uses the biLM that `to_bytes` has stored, whatever the source."""
        weights = safetensors.torch.load(content)
        options = json.loads(weights.pop(_OPTIONS).numpy().tobytes())
        stored = Checkpoint(BiLmOptions.from_dict(options), weights.items())
        self._take(BiLm.from_checkpoint(stored, self.precision))
        return self

    def _take(self, bilm: BiLm) -> BiLm:
        number, weights = self.layers, self.mixing_weights
        if type(number) is int and not 0 <= number < bilm.num_layers:
            raise BiLmError(f"the biLM has the layers 0 to {bilm.num_layers - 1}, and no {number}")
        if weights is not None and len(weights) != bilm.num_layers:
            raise BiLmError(f"the biLM has {bilm.num_layers} layers, but mixing_weights {len(weights)}")
        self._bilm = bilm
        return bilm

    def _chosen(self, layers: Tensor) -> Tensor:
        """Returns the vectors that were asked for. Shape of `layers`: (num_layers, words, dim)."""
        if self.layers == ALL:
            return layers
        if self.layers == MEAN:
            weights = layers.new_tensor(self.mixing_weights or [1.0] * len(layers))
            return torch.tensordot(weights / weights.sum(), layers, dims=1)
        number: Any = {"token": 0, "top": -1}.get(str(self.layers), self.layers)
        return layers[number]
