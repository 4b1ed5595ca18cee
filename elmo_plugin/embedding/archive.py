"""Reads ELMo's biLM, layers and layer weights from a trained model."""

from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io import BUNDLED_MODELS, WEIGHTS_NAMES, check_weights
from elmo_plugin.common.formats.torch_files import json_from_tensor, json_to_tensor, load_plain

EXTRA_STATE = "_extra_state"  # torch's name for a module's stored values other than tensors
_WEIGHTS = ".scalar_mix.weights"
_WHAT = "the metadata of ELMo in the weights"


class ElmoMetadata(NamedTuple):
    """
    Describes a `ContextualElmo`; stored with its weights.

    source: the biLM's name in the configuration
    options: the biLM's sizes, as in `options.json`
    layers: for each placement, the numbers of the layers that are mixed
    digest: if the biLM is frozen and comes with this package, so that its weights are not stored
    version: of this package
    """

    source: str | dict[str, str]
    options: dict[str, Any]
    layers: dict[str, list[int]]
    digest: str
    version: str

    def to_tensor(self) -> Tensor:
        return json_to_tensor(self._asdict())

    @classmethod
    def from_tensor(cls, content: Tensor) -> "ElmoMetadata":
        """Reads what `to_tensor` returned. Raises `BiLmError` if it is something else."""
        metadata = json_from_tensor(content, _WHAT)
        if not isinstance(metadata, dict) or set(metadata) != set(cls._fields):
            raise BiLmError(f"{_WHAT}: expected {', '.join(cls._fields)}, got {metadata!r}")
        layers = metadata["layers"]
        are_lists = isinstance(layers, dict) and all(
            _are_layer_numbers(numbers) for numbers in layers.values()
        )
        if not are_lists:
            raise BiLmError(f"{_WHAT}: expected lists of layers, got {layers!r}")
        return cls(**metadata)


def _are_layer_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)


def archived_bilm(
    folder: str | PathLike[str] | None, source: str | dict[str, str], precision: str
) -> BiLm | None:
    """
    Makes the biLM of a trained model from the model's weights, in `folder`; `source` is its name in
    the configuration. Returns `None` if the folder contains no weights, because the training
    begins, or if the biLM is not among the weights, because it comes with this package.

    Raises `BiLmError` if any other biLM is missing from the weights: an archive must neither read
    nor download files.
    """
    state = stored_state(folder)
    if state is None:
        return None
    for elmo, weights in find_bilms(state, EXTRA_STATE, "bilm."):
        metadata = ElmoMetadata.from_tensor(state[elmo + EXTRA_STATE]) if weights else None
        if metadata is not None and metadata.source == source:
            options = BiLmOptions.from_dict(metadata.options, elmo + EXTRA_STATE)
            check_weights(weights, options, f"{elmo}bilm")
            return BiLm(options, precision=precision, weights=weights.items())
    if source not in BUNDLED_MODELS:
        raise BiLmError(f"{folder}: the biLM {source} is not in the weights")
    return None


def stored_state(folder: str | PathLike[str] | None) -> Mapping[str, Any] | None:
    """
    Reads the weights of a trained model; `None` if the folder contains none, because the training
    begins. Raises `BiLmError` if they are damaged: a model made without them would read the files
    that its archive names.
    """
    if folder is None:
        return None
    for name in WEIGHTS_NAMES:
        file = Path(folder) / name
        if file.is_file():
            return load_plain(file, name=str(file))
    return None


def find_bilms(
    state: Mapping[str, Any], marker: str, path: str
) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """
    Finds the modules with a biLM in a `state_dict`, by an entry of each whose name ends in
    `marker`. Yields the prefix of the module, and the weights of its biLM, beginning with `path`.
    """
    for name in state:
        if name.endswith(marker):
            module = name.removesuffix(marker)
            start = module + path
            weights = {
                key.removeprefix(start): state[key] for key in state if key.startswith(start)
            }
            yield module, weights


class LayerWeights(NamedTuple):
    """
    How one placement of ELMo mixes the layers of its biLM.

    placement: "input" or "output"; the name of the module if it is neither, or if several modules
        have this placement
    layers: the numbers of the layers that are mixed; 0 is the token layer
    normalized_weights: the weight of each of them after the softmax
    gamma: the factor of the whole mix
    """

    placement: str
    layers: list[int]
    normalized_weights: list[float]
    gamma: float


def read_layer_weights(state: Mapping[str, Any]) -> list[LayerWeights]:
    """
    Reads the mixes from the `state_dict` of a model, in its order. An `ElmoRepresentations`
    without a model stores no layer numbers: its layers are counted from 0.
    """
    modules = [name.removesuffix(_WEIGHTS) for name in state if name.endswith(_WEIGHTS)]
    counts = Counter(_placement(module) for module in modules)
    mixes = []
    for module in modules:
        placement = _placement(module)
        if counts[placement] > 1:
            placement = module
        weights = torch.softmax(state[module + _WEIGHTS].double(), dim=0).tolist()
        elmo, _, name = module.rpartition(".mixes.")
        metadata = state.get(f"{elmo}.{EXTRA_STATE}")
        if metadata is None:
            layers = list(range(len(weights)))
        else:
            layers = ElmoMetadata.from_tensor(metadata).layers[name]
        gamma = float(state[f"{module}.scalar_mix.gamma"])
        mixes.append(LayerWeights(placement, layers, weights, gamma))
    return mixes


def layer_name(number: int) -> str:
    """Returns the usual name of the layer with this number."""
    return f"LSTM {number}" if number else "token"


def _placement(module: str) -> str:
    name = module.rpartition(".")[2]
    return name if name in ("input", "output") else module
