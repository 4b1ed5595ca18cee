"""Reads ELMo's biLM, layers and layer weights from a trained model."""

from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io import BUNDLED_MODELS, check_weights, weights_file
from elmo_plugin.common.formats.torch_files import json_from_tensor, json_to_tensor, load_plain

EXTRA_STATE = "_extra_state"  # torch's name for a module's stored values other than tensors
_MIX_WEIGHTS = ".scalar_mix.weights"  # the end of the name of a mix's weights
_METADATA_NAME = "the metadata of ELMo in the weights"  # in messages


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
        """
        Reads a description from the tensor that was stored with the weights. Raises `BiLmError` if
        the tensor does not contain one. The options are checked when a biLM is made from them.
        """
        metadata = json_from_tensor(content, _METADATA_NAME)
        if not isinstance(metadata, dict) or set(metadata) != set(cls._fields):
            expected = ", ".join(cls._fields)
            raise BiLmError(f"{_METADATA_NAME}: expected {expected}, got {metadata!r}")
        layers = metadata["layers"]
        if not _are_layers_of_placements(layers):
            raise BiLmError(f"{_METADATA_NAME}: expected lists of layers, got {layers!r}")
        return cls(**metadata)


def _are_layers_of_placements(value: object) -> bool:
    """Returns whether a value read from JSON has a list of layer numbers for each placement."""
    if not isinstance(value, dict):
        return False
    return all(_are_layer_numbers(numbers) for numbers in value.values())


def _are_layer_numbers(value: object) -> bool:
    """Returns whether a value read from JSON is a list of layer numbers."""
    if not isinstance(value, list):
        return False
    # JSON's `true` is no layer number, though `isinstance` would take it for an integer.
    return all(type(number) is int and number >= 0 for number in value)


def archived_bilm(
    folder: str | PathLike[str] | None, source: str | dict[str, str], precision: str
) -> BiLm | None:
    """
    Makes the biLM of a trained model from the weights in `folder`. `source` is its name in the
    configuration. The biLM computes in `precision`. Returns `None` if the folder has no weights
    yet, as at the start of training, or if they do not contain the biLM, because it comes with this
    package.

    Raises `BiLmError` if the weights lack a biLM that does not come with this package, because an
    archive must neither read nor download files.
    """
    state = stored_state(folder)
    if state is None:
        return None
    for module, weights in find_bilms(state, marker=EXTRA_STATE, bilm_path="bilm."):
        if not weights:
            # Other modules also have an extra state, such as word vectors. And a biLM that comes
            # with this package is not stored.
            continue
        metadata_name = module + EXTRA_STATE
        metadata = ElmoMetadata.from_tensor(state[metadata_name])
        if metadata.source == source:
            options = BiLmOptions.from_dict(metadata.options, source=metadata_name)
            check_weights(weights, options, name=f"{module}bilm")
            return BiLm(options, precision=precision, weights=weights.items())
    if source not in BUNDLED_MODELS:
        raise BiLmError(f"{folder}: the biLM {source} is not in the weights")
    return None


def stored_state(folder: str | PathLike[str] | None) -> Mapping[str, Any] | None:
    """
    Reads the weights of a trained model from its folder, an extracted archive or a serialization
    directory. Returns `None` if the folder is without weights, as at the start of training, or if
    it is `None`. Raises `BiLmError` if they are damaged.
    """
    if folder is None:
        return None
    file = weights_file(Path(folder))
    if file is None:
        return None
    return load_plain(file, name=str(file))


def find_bilms(
    state: Mapping[str, Any], marker: str, bilm_path: str
) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """
    Finds the modules that may contain a biLM in a `state_dict`: each has an entry whose name ends
    in `marker`. Yields the prefix of each module's names, such as "encoder.elmo.", and the weights
    of its biLM, without the prefix and the `bilm_path` that follows it, such as "bilm."; the
    weights are empty if the module is without a biLM.
    """
    for name in state:
        if not name.endswith(marker):
            continue
        module = name.removesuffix(marker)
        bilm_prefix = module + bilm_path
        weights = {}
        for parameter in state:
            if parameter.startswith(bilm_prefix):
                weights[parameter.removeprefix(bilm_prefix)] = state[parameter]
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
    """Reads all mixes from the `state_dict` of a model, in its order."""
    # Such as "elmo.mixes.input".
    modules = [name.removesuffix(_MIX_WEIGHTS) for name in state if name.endswith(_MIX_WEIGHTS)]
    counts = Counter(_placement(module) for module in modules)
    mixes = []
    for module in modules:
        placement = _placement(module)
        if counts[placement] > 1:
            placement = module
        weights = torch.softmax(state[module + _MIX_WEIGHTS].double(), dim=0).tolist()
        elmo, _, mix_name = module.rpartition("mixes.")
        metadata = state.get(elmo + EXTRA_STATE)
        if metadata is None:
            # An `ElmoRepresentations` that is no `ContextualElmo` does not store which layers it
            # mixes. They are numbered as if it mixed all.
            layers = list(range(len(weights)))
        else:
            layers = ElmoMetadata.from_tensor(metadata).layers[mix_name]
        gamma = float(state[f"{module}.scalar_mix.gamma"])
        mixes.append(LayerWeights(placement, layers, normalized_weights=weights, gamma=gamma))
    return mixes


def layer_name(number: int) -> str:
    """Returns the usual name of the layer with this number."""
    if number == 0:
        return "token"
    return f"LSTM {number}"


def _placement(module: str) -> str:
    """
    Returns the placement of a mix: the last part of its module's name if that is "input" or
    "output", otherwise the whole name.
    """
    last_part = module.split(".")[-1]
    if last_part in ("input", "output"):
        return last_part
    return module
