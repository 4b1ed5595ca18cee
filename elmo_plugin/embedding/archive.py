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
    digest: stands for the weights of a frozen biLM that comes with this package, which are not
        stored; empty for any other biLM
    version: the version of this package
    """

    source: str | dict[str, str]
    options: dict[str, Any]
    layers: dict[str, list[int]]
    digest: str
    version: str

    def to_tensor(self) -> Tensor:
        """Returns the description in a form that is stored with weights."""
        return json_to_tensor(self._asdict())

    @classmethod
    def from_tensor(cls, content: Tensor) -> "ElmoMetadata":
        """Reads what `to_tensor` returned. Raises `BiLmError` if it is something else."""
        metadata = json_from_tensor(content, _WHAT)
        if not isinstance(metadata, dict) or set(metadata) != set(cls._fields):
            raise BiLmError(f"{_WHAT}: expected {', '.join(cls._fields)}, got {metadata!r}")
        if not _are_layers_of_placements(metadata["layers"]):
            raise BiLmError(f"{_WHAT}: expected lists of layers, got {metadata['layers']!r}")
        return cls(**metadata)


def _are_layers_of_placements(value: object) -> bool:
    """Returns whether a value of JSON is an object of lists of layer numbers."""
    if not isinstance(value, dict):
        return False
    return all(_are_layer_numbers(numbers) for numbers in value.values())


def _are_layer_numbers(value: object) -> bool:
    """Returns whether a value of JSON is a list of layer numbers."""
    if not isinstance(value, list):
        return False
    return all(type(number) is int and number >= 0 for number in value)


def archived_bilm(
    folder: str | PathLike[str] | None, source: str | dict[str, str], precision: str
) -> BiLm | None:
    """
    Makes the biLM of a trained model from the weights in `folder`. `source` is its name in the
    configuration. Returns `None` if there are no weights, because the training only begins, or if
    they do not contain the biLM, because it comes with this package.

    Raises `BiLmError` if the weights lack a biLM that does not come with this package, because an
    archive must neither read nor download files.
    """
    state = stored_state(folder)
    if state is None:
        return None
    for prefix, weights in find_bilms(state, EXTRA_STATE, "bilm."):
        if not weights:
            # A module without a biLM, or with one that comes with this package and is not stored.
            continue
        metadata = ElmoMetadata.from_tensor(state[prefix + EXTRA_STATE])
        if metadata.source == source:
            options = BiLmOptions.from_dict(metadata.options, prefix + EXTRA_STATE)
            check_weights(weights, options, f"{prefix}bilm")
            return BiLm(options, precision=precision, weights=weights.items())
    if source not in BUNDLED_MODELS:
        raise BiLmError(f"{folder}: the biLM {source} is not in the weights")
    return None


def stored_state(folder: str | PathLike[str] | None) -> Mapping[str, Any] | None:
    """
    Reads the weights of a trained model from its folder. Returns `None` if there are none, because
    the training only begins. Raises `BiLmError` if they are damaged: without weights, a model would
    read the files that its archive names.
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
    Finds the modules that may contain a biLM in a `state_dict`: each has an entry whose name ends
    in `marker`. Yields the prefix of the module's names, and the weights of its biLM, whose names
    continue with `path`; these are empty if it has none.
    """
    for name in state:
        if not name.endswith(marker):
            continue
        prefix = name.removesuffix(marker)
        start = prefix + path
        weights = {}
        for key in state:
            if key.startswith(start):
                weights[key.removeprefix(start)] = state[key]
        yield prefix, weights


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
    Reads the mixes from the `state_dict` of a model, in its order. An `ElmoRepresentations` that is
    not a `ContextualElmo` stores no layer numbers, so its layers are counted from 0.
    """
    modules = [name.removesuffix(_WEIGHTS) for name in state if name.endswith(_WEIGHTS)]
    counts = Counter(_placement(module) for module in modules)
    mixes = []
    for module in modules:
        placement = _placement(module)
        if counts[placement] > 1:
            placement = module
        weights = torch.softmax(state[module + _WEIGHTS].double(), dim=0).tolist()
        # Such as "elmo.mixes.input": the module of ELMo, and the name of its mix.
        elmo, _, mix_name = module.rpartition(".mixes.")
        metadata = state.get(f"{elmo}.{EXTRA_STATE}")
        if metadata is None:
            layers = list(range(len(weights)))
        else:
            layers = ElmoMetadata.from_tensor(metadata).layers[mix_name]
        gamma = float(state[f"{module}.scalar_mix.gamma"])
        mixes.append(LayerWeights(placement, layers, weights, gamma))
    return mixes


def layer_name(number: int) -> str:
    """Returns the usual name of the layer with this number."""
    if number == 0:
        return "token"
    return f"LSTM {number}"


def _placement(module: str) -> str:
    """Returns "input" or "output" if the name of the module ends so, otherwise the whole name."""
    _, _, name = module.rpartition(".")
    if name in ("input", "output"):
        return name
    return module
