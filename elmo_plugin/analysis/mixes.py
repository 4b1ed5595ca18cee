"""What of a biLM's layers an analysis looks at: each by itself, their mean, and what models have learned."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding import layer_name, read_mixes


class LayerMixes(NamedTuple):
    """
    names: of each mix, such as "LSTM 1" or "mean"
    weights: of each layer in each mix. Shape (mixes, num_layers)
    """

    names: list[str]
    weights: Tensor


def layer_mixes(bilm: BiLm, archives: Sequence[str | Path] = ()) -> LayerMixes:
    """
    Returns each layer of a biLM by itself, the mean of all, and the mixes that models have learned.

    # Parameters

    bilm : `BiLm`
        The biLM.
    archives : `Sequence[str | Path]`, optional (default = `()`)
        Archives, or directories of trainings, of models with this biLM.

    Raises `BiLmError` where an archive has no weights of ELMo, or those of other layers.
    """
    layers = bilm.num_layers
    names = [*map(layer_name, range(layers)), "mean"]
    rows = [*torch.eye(layers), torch.full((layers,), 1 / layers)]
    for archive in archives:
        mixes = read_mixes(read_state(archive))
        if not mixes:
            raise BiLmError(f"archive {archive}: its model has no ELMo of elmo_plugin")
        for mix in mixes:
            if max(mix.layers) >= layers:
                raise BiLmError(f"archive {archive}: its mix is of a biLM with more layers")
            row = torch.zeros(layers)
            row[list(mix.layers)] = torch.tensor(mix.normalized_weights)
            names.append(f"{archive}, {mix.placement}")
            rows.append(row)
    return LayerMixes(names, torch.stack(rows))
