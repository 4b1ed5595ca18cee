"""The weight of each layer of the biLM in a trained model: eq. (1) of Peters et al. (2018)."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from elmo_plugin.embedding.archive_restore import EXTRA_STATE, EmbedderMetadata

_WEIGHTS = re.compile(r"(.+)\.mixes\.(\d+)\.scalar_mix\.weights")
_EMBEDDER = "._elmo"


class Mix(NamedTuple):
    """
    How one placement of ELMo mixes the layers of its biLM.

    # Parameters

    placement : `str`
        "input" or "output"; the name of the module if it is neither, or if there are several of it.
    layers : `list[int]`
        The numbers of the layers that are mixed; 0 is the token layer.
    normalized_weights : `list[float]`
        The weight of each of them after the softmax.
    gamma : `float`
        The factor of the whole.
    """

    placement: str
    layers: list[int]
    normalized_weights: list[float]
    gamma: float


def read_mixes(state: Mapping[str, Any]) -> list[Mix]:
    """
    Reads the mixes of a model from its weights.

    # Parameters

    state : `Mapping[str, Any]`
        The `state_dict` of a model with any number of `elmo` token embedders or modules
        `ElmoRepresentations`. The latter do not store the numbers of their layers, which are counted from 0.

    # Returns

    `list[Mix]`
        In the order of the model.
    """
    found = [match for name in state if (match := _WEIGHTS.fullmatch(name))]
    paths = [_path(match) for match in found]
    counts = Counter(map(_placement, paths))
    mixes = []
    for match, path in zip(found, paths, strict=True):
        weights = state[match.string]
        metadata = state.get(f"{path}.{EXTRA_STATE}")
        mixes.append(
            Mix(
                _placement(path) if counts[_placement(path)] == 1 else path,
                list(range(len(weights)))
                if metadata is None
                else EmbedderMetadata.from_tensor(metadata).layers,
                torch.softmax(weights.double(), dim=0).tolist(),
                float(state[match.string.removesuffix("weights") + "gamma"]),
            )
        )
    return mixes


def layer_name(number: int) -> str:
    """Returns the usual name of the layer with this number."""
    return f"LSTM {number}" if number else "token"


def _path(match: re.Match[str]) -> str:
    """Returns the name of the embedder, or that of an `ElmoRepresentations` with the number of its mix."""
    module, number = match.groups()
    return module.removesuffix(_EMBEDDER) if module.endswith(_EMBEDDER) else f"{module}.{number}"


def _placement(path: str) -> str:
    module = path.rpartition(".")[2]
    if module.startswith("token_embedder_"):
        return "input"
    return "output" if module == "output_elmo" else path
