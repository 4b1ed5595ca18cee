"""A frozen biLM for other libraries: named in their configurations, stored with what they train."""

import json
from collections.abc import Sequence
from copy import deepcopy
from hashlib import blake2b
from math import fsum, isfinite
from os import PathLike
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions, get_precision
from elmo_plugin.bilm.io import Checkpoint, Source
from elmo_plugin.common.files import checksum
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.torch_files import check_all_finite

MEAN, ALL = "mean", "all"
_METADATA = "metadata.json"  # among the stored weights
_MAGIC = b"elmo word vectors 1\n"
_CHECKSUM_BYTES = 4


class WordVectors:
    """
    Embeds words with a frozen biLM, which is loaded on first use: a stored pipeline contains it, and does not
    need the source that its configuration names.

    # Parameters

    source : `str | Mapping[str, str]`
        See `BiLm.from_pretrained`.
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
        self.source = source
        self.layers = layers
        self.mixing_weights = None if mixing_weights is None else _checked_weights(mixing_weights, layers)
        self.precision = get_precision(precision).name
        self._bilm: BiLm | None = None

    @property
    def bilm(self) -> BiLm:
        """Loads the biLM on first access. Raises `BiLmError` if it cannot, or if it lacks the layers."""
        return self._bilm or self._take(BiLm.from_pretrained(self.source, self.precision))

    @property
    def num_features(self) -> int:
        """The numbers that a word gets, those of several layers together."""
        return self.bilm.output_dim * (self.bilm.num_layers if self.layers == ALL else 1)

    def to(self, device: str) -> "WordVectors":
        """
        Moves the biLM to a device of torch's, such as "cuda", unless it is there. What is stored has
        no device.

        Raises `BiLmError` where there is no such device.
        """
        try:
            wanted = torch.empty(0, device=device).device  # with its number
        except (RuntimeError, AssertionError) as error:  # torch without CUDA asserts it
            reason = str(error).partition("\n")[0]
            raise BiLmError(f"the biLM cannot be moved to the device {device!r} ({reason})") from None
        if self.bilm.boundaries.device != wanted:
            self.bilm.to(wanted)
        return self

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

        Raises `BiLmError` if a sentence is not a list of words.
        """
        return [self._chosen(layers).cpu().numpy() for layers in self.bilm.embed(list(sentences))]

    def to_bytes(self) -> bytes:
        """Returns the biLM and the settings, with a checksum, for `from_bytes` and `restore`."""
        weights = {name: tensor.cpu().contiguous() for name, tensor in self.bilm.state_dict().items()}
        metadata = json.dumps({"options": self.bilm.options.to_dict(), "settings": self._settings()}).encode()
        tensors = {**weights, _METADATA: torch.tensor(list(metadata), dtype=torch.uint8)}
        content = safetensors.torch.save(tensors)
        return _MAGIC + checksum(content).to_bytes(_CHECKSUM_BYTES, "little") + content

    def from_bytes(self, content: bytes) -> "WordVectors":
        """
        Uses the biLM that `to_bytes` has stored, whatever the source, with its own settings.

        Raises `BiLmError` if the content is damaged, or has numbers that are not finite.
        """
        metadata, weights = _parse(content)
        stored = Checkpoint(BiLmOptions.from_dict(metadata["options"]), weights.items())
        self._take(BiLm.from_checkpoint(stored, self.precision))
        return self

    @classmethod
    def restore(cls, content: bytes) -> "WordVectors":
        """Returns what `to_bytes` has stored, with its settings; raises `BiLmError` as `from_bytes` does."""
        return cls(*_parse(content)[0]["settings"]).from_bytes(content)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles with a checksum, which pickle itself lacks."""
        if self._bilm is None:
            return WordVectors, self._settings()
        return WordVectors.restore, (self.to_bytes(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> "WordVectors":
        other = WordVectors(*self._settings())
        other._bilm = deepcopy(self._bilm, memo)
        return other

    def _settings(self) -> tuple[Any, ...]:
        """Returns the arguments of the constructor."""
        source = self.source
        named = str(source) if isinstance(source, str | PathLike) else {k: str(source[k]) for k in source}
        return named, self.layers, self.mixing_weights, self.precision

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
            weights = self.mixing_weights or [1.0] * len(layers)
            scaled = layers.new_tensor([weight / fsum(weights) for weight in weights])
            return torch.tensordot(scaled, layers, dims=1)
        number: Any = {"token": 0, "top": -1}.get(str(self.layers), self.layers)
        return layers[number]


def _parse(content: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Returns the metadata and the weights that `WordVectors.to_bytes` has stored, checked."""
    name = "the stored biLM"
    start = len(_MAGIC) + _CHECKSUM_BYTES
    head, tensors = bytes(content[:start]), bytes(content[start:])
    if head != _MAGIC + checksum(tensors).to_bytes(_CHECKSUM_BYTES, "little"):
        raise BiLmError(f"{name}: it is damaged, or not what this version stores")
    try:
        weights = safetensors.torch.load(tensors)
        metadata = weights.pop(_METADATA).numpy().tobytes()
    except (safetensors.SafetensorError, KeyError):
        raise BiLmError(f"{name}: it is not what this version stores") from None
    check_all_finite(weights.items(), name)
    return parse_json(metadata, name), weights


def _checked_weights(mixing_weights: Sequence[float], layers: str | int) -> list[float]:
    try:
        weights = [float(weight) for weight in mixing_weights]
    except (TypeError, ValueError):
        raise BiLmError(f"mixing_weights are numbers, not {mixing_weights!r}") from None
    try:
        total = fsum(weights)
    except (OverflowError, ValueError):  # of infinite numbers, or beyond them
        total = float("nan")
    if not isfinite(total):
        raise BiLmError(f"mixing_weights and their sum must be finite, not {weights}")
    if layers != MEAN or total <= 0:
        raise BiLmError('mixing_weights, of which some are positive, go with layers "mean"')
    return weights
