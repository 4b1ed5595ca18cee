"""The weights with which a trained model mixes the layers of its biLM."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.formats.torch_files import EXTRA_STATE, check_finite
from elmo_plugin.embedding.archive import METADATA_NAME, ElmoMetadata

_MIX_WEIGHTS = ".scalar_mix.weights"  # the end of the name of a mix's weights
_MIX_GAMMA = ".scalar_mix.gamma"


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
    Reads all mixes from the `state_dict` of a model, in its order. Raises `BiLmError` if the
    metadata of ELMo are damaged or do not fit a mix, or if a mix is damaged itself.
    """
    modules = _mixing_modules(state)
    num_modules = Counter(_placement(module) for module in modules)
    mixes = []
    for module in modules:
        placement = _placement(module)
        if num_modules[placement] > 1:
            placement = module  # only the whole name tells these mixes apart
        logits = _parameter(state, module + _MIX_WEIGHTS)
        gamma = _parameter(state, module + _MIX_GAMMA)
        if logits.dim() != 1 or gamma.numel() != 1:
            raise BiLmError(f"{module}: expected a weight for each layer, and one gamma")
        weights = torch.softmax(logits, dim=0).tolist()
        layers = _mixed_layers(state, module, len(weights))
        mixes.append(LayerWeights(placement, layers, weights, gamma.item()))
    return mixes


def _parameter(state: Mapping[str, Any], name: str) -> Tensor:
    """
    Returns a parameter of a mix in float64. Raises `BiLmError` if it is anything but finite
    numbers.
    """
    values = check_finite(f"the tensor {name}", state[name])
    if not isinstance(values, Tensor):
        raise BiLmError(f"the tensor {name}: expected numbers, got {values!r:.60}")
    return values.double()


def _mixing_modules(state: Mapping[str, Any]) -> list[str]:
    """Returns the names of the modules that mix layers, such as "elmo.mixes.input"."""
    modules = []
    for name in state:
        if name.endswith(_MIX_WEIGHTS):
            module = name.removesuffix(_MIX_WEIGHTS)
            # A module of another program may have such weights, but without a gamma.
            if module + _MIX_GAMMA in state:
                modules.append(module)
    return modules


def _mixed_layers(state: Mapping[str, Any], module: str, num_layers: int) -> list[int]:
    """
    Returns the numbers of the layers that a module mixes, `num_layers` of them. Only a
    `ContextualElmo` stores them. Any other `ElmoRepresentations` is taken to mix all layers of its
    biLM. Raises `BiLmError` if the stored layers do not fit.
    """
    elmo_prefix, _, mix_name = module.rpartition("mixes.")
    metadata = state.get(elmo_prefix + EXTRA_STATE)
    if metadata is None:
        return list(range(num_layers))
    layers = ElmoMetadata.from_tensor(metadata).layers.get(mix_name)
    if layers is None or len(layers) != num_layers:
        raise BiLmError(
            f"{METADATA_NAME}: expected {num_layers} layers of {mix_name}, got {layers}"
        )
    return layers


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
