"""How much each layer of the biLM counts in a trained model: eq. (1) of Peters et al. (2018)."""

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
    placement: "input" or "output"; the name of the module where it is neither, or where several are the same
    layers: the numbers of the layers that are mixed; 0 is the token layer
    shares: the normalised weight of each of them
    gamma: the factor of the whole
    """

    placement: str
    layers: list[int]
    shares: list[float]
    gamma: float


def read_mixes(state: Mapping[str, Any]) -> list[Mix]:
    """
    # Parameters

    state : `Mapping[str, Any]`
        The `state_dict` of a model with any number of `elmo` token embedders, or of torch modules `Elmo`. The
        latter do not keep the numbers of their layers: these are counted from 0.

    # Returns

    `list[Mix]`
        In the order of the model.
    """
    found = [match for name in state if (match := _WEIGHTS.fullmatch(name))]
    paths = [_path(match) for match in found]
    times = Counter(map(_placement, paths))
    mixes = []
    for match, path in zip(found, paths, strict=True):
        weights = state[match.string]
        kept = state.get(f"{path}.{EXTRA_STATE}")
        mixes.append(
            Mix(
                _placement(path) if times[_placement(path)] == 1 else path,
                list(range(len(weights))) if kept is None else EmbedderMetadata.from_tensor(kept).layers,
                torch.softmax(weights.double(), dim=0).tolist(),
                float(state[match.string.removesuffix("weights") + "gamma"]),
            )
        )
    return mixes


def layer_name(number: int) -> str:
    """What people call the layer with this number."""
    return f"LSTM {number}" if number else "token"


def _path(match: re.Match[str]) -> str:
    """The name of the embedder; of a mix of an `Elmo`, the latter's name and the number of the mix."""
    module, number = match.groups()
    return module.removesuffix(_EMBEDDER) if module.endswith(_EMBEDDER) else f"{module}.{number}"


def _placement(path: str) -> str:
    module = path.rpartition(".")[2]
    if module.startswith("token_embedder_"):
        return "input"
    return "output" if module == "output_elmo" else path
