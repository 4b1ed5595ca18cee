"""A frozen biLM as other libraries hold it: named in their configuration, stored with what they train."""

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

MIX, ALL = "mix", "all"
LAYERS = (MIX, "top", "token", ALL)
_OPTIONS = "options.json"  # among the stored weights


class WordVectors:
    """
    Embeds words with a frozen biLM. It is loaded when it is first used, so that a stored pipeline needs
    nothing but itself, wherever its configuration says that the biLM came from.

    # Parameters

    source : `str | Mapping[str, str]`
        See `load_bilm`.
    layers : `str | int`, optional (default = `"mix"`)
        What a word's vector is: the "mix" of all layers, the "top" one, the "token" layer, the layer with
        this number, or "all", each by itself.
    mixing_weights : `Sequence[float] | None`, optional (default = `None`)
        The weights of the mix, one a layer, scaled here to sum to one; without them it is the mean.
    precision : `str`, optional (default = `"float32"`)
        See `BiLm`.

    Raises `BiLmError` where `layers`, `mixing_weights` or `precision` are wrong; one that does not fit the
    biLM is found when that is loaded.
    """

    def __init__(
        self,
        source: Source,
        layers: str | int = MIX,
        mixing_weights: Sequence[float] | None = None,
        precision: str = "float32",
    ) -> None:
        if layers not in LAYERS and type(layers) is not int:
            raise BiLmError(f"layers is one of {', '.join(LAYERS)}, or the number of a layer, not {layers!r}")
        if mixing_weights is not None and (layers != MIX or not sum(mixing_weights) > 0):
            raise BiLmError('mixing_weights, of which some are positive, go with layers "mix"')
        self.source = source
        self.layers = layers
        self.mixing_weights = None if mixing_weights is None else [float(weight) for weight in mixing_weights]
        self.precision = get_precision(precision).name
        self._bilm: BiLm | None = None

    @property
    def bilm(self) -> BiLm:
        """Raises `BiLmError` where the source is no usable model, or has other layers than are asked for."""
        return self._bilm or self._take(load_bilm(self.source, self.precision))

    @property
    def dim(self) -> int:
        """The size of a word's vector."""
        return self.bilm.output_dim

    def digest(self) -> str:
        """Returns 32 hexadecimal digits that tell these vectors from those of other biLMs and settings."""
        settings = json.dumps([self.layers, self.mixing_weights]).encode()
        return blake2b(self.bilm.digest() + settings, digest_size=16).hexdigest()

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """
        Embeds the words of each sentence, which may be none.

        # Returns

        `list[np.ndarray]`
            Per sentence an array of shape (words, dim), or (num_layers, words, dim) for "all", float32.
        """
        return [self._chosen(layers).cpu().numpy() for layers in self.bilm.embed(sentences)]

    def to(self, device: str) -> None:
        """Moves the biLM; another holder of it keeps it where it was."""
        self._take(BiLm.from_checkpoint(_checkpoint(self.bilm), self.precision).to(device))

    def to_bytes(self) -> bytes:
        """Returns the weights and the options of the biLM, of which `from_bytes` makes it again."""
        weights = {name: tensor.cpu().contiguous() for name, tensor in self.bilm.state_dict().items()}
        options = json.dumps(self.bilm.options.to_dict()).encode()
        return safetensors.torch.save({**weights, _OPTIONS: torch.tensor(list(options), dtype=torch.uint8)})

    def from_bytes(self, content: bytes) -> "WordVectors":
        """Takes the biLM that `to_bytes` has stored, in place of that of the source."""
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
        """Returns what is asked for of all layers, shape (num_layers, words, dim)."""
        if self.layers == ALL:
            return layers
        if self.layers == MIX:
            weights = layers.new_tensor(self.mixing_weights or [1.0] * len(layers))
            return torch.tensordot(weights / weights.sum(), layers, dims=1)
        number: Any = {"token": 0, "top": -1}.get(str(self.layers), self.layers)
        return layers[number]


def _checkpoint(bilm: BiLm) -> Checkpoint:
    return Checkpoint(bilm.options, bilm.state_dict().items())
