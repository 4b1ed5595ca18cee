"""The combinations of a biLM's layers: each layer, their mean, and the mixes that models have learned."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from elmo_plugin.bilm import BiLm, has_weights
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding import layer_name, load_mixes


class LayerCombinations(NamedTuple):
    """
    names: such as "LSTM 1" or "mean"
    weights: of each layer in each combination. Shape (combinations, num_layers)
    layer_norm: whether the layers are normalised first. Shape (combinations,)
    """

    names: list[str]
    weights: Tensor
    layer_norm: Tensor

    def combine(self, layers: Tensor) -> Tensor:
        """
        Returns the vectors of words by each combination, shape (combinations, words, dim), from their layers,
        shape (num_layers, words, dim). Leaves out `gamma`, which scales all words alike.
        """
        weights = self.weights.to(layers)
        combined = torch.einsum("cl,lwd->cwd", weights, layers)
        if self.layer_norm.any():
            normalized = functional.layer_norm(layers, layers.shape[-1:])
            combined[self.layer_norm] = torch.einsum("cl,lwd->cwd", weights[self.layer_norm], normalized)
        return combined


def layer_combinations(bilm: BiLm, archives: Sequence[str | Path] = ()) -> LayerCombinations:
    """
    Returns each layer of a biLM, their mean, and the mixes that models have learned.

    # Parameters

    bilm : `BiLm`
        The biLM.
    archives : `Sequence[str | Path]`, optional (default = `()`)
        Archives, or directories of trainings, of models with this biLM.

    Raises `BiLmError` if an archive has no ELMo, or another biLM.
    """
    layers = bilm.num_layers
    names = [*map(layer_name, range(layers)), "mean"]
    rows = [*torch.eye(layers), torch.full((layers,), 1 / layers)]
    layer_norm = [False] * len(rows)
    for archive in archives:
        for placement, elmo, scalar_mix in load_mixes(archive):
            if elmo.bilm.options != bilm.options or not has_weights(bilm, elmo.bilm.state_dict()):
                raise BiLmError(
                    f"archive {archive}: its mix at {placement} is of another biLM, or of one that was "
                    "trained with the model"
                )
            row = torch.zeros(layers)
            row[elmo.layer_numbers] = scalar_mix.normalized_weights().detach().float()
            names.append(f"{archive}, {placement}")
            rows.append(row)
            layer_norm.append(elmo.layer_norm)
    return LayerCombinations(names, torch.stack(rows), torch.tensor(layer_norm))
