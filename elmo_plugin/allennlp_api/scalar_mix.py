"""Eq. (1) of the paper with the parameters, and the layer normalization, of published implementations."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.formats.torch_files import check_all_finite
from elmo_plugin.embedding import weighted_sum

SMALLEST_VARIANCE = 1e-13


class AllenNlpScalarMix(nn.Module):
    """
    Computes `gamma * sum_j s_j h_j` with `s = softmax(scalar_parameters)`, with the arguments of AllenNLP's
    `ScalarMix`. `do_layer_norm` normalizes each layer before it is mixed, by one mean and one variance over
    all features of all words and boundaries of the batch.

    Raises `BiLmError` unless there is a finite initial parameter for each layer.
    """

    def __init__(
        self,
        mixture_size: int,
        do_layer_norm: bool = False,
        initial_scalar_parameters: Sequence[float] | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__()
        initial = initial_scalar_parameters
        values = [0.0] * mixture_size if initial is None else list(initial)
        if len(values) != mixture_size or not all(map(isfinite, values)):
            raise BiLmError(f"scalar mix parameters: expected {mixture_size} finite numbers, got {values}")
        self.mixture_size = mixture_size
        self.do_layer_norm = do_layer_norm
        self.scalar_parameters = nn.ParameterList(
            nn.Parameter(torch.tensor([float(value)]), requires_grad=trainable) for value in values
        )
        self.gamma = nn.Parameter(torch.ones(1), requires_grad=trainable)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        check_all_finite((name, each) for name, each in state_dict.items() if name.startswith(prefix))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, tensors: Tensor | Sequence[Tensor], mask: Tensor | None = None) -> Tensor:
        """
        Returns the mix, shape (..., dim), of layers in one tensor of shape (mixture_size, ..., dim), or in as
        many of shape (..., dim).

        `mask`, shape (...), is true at the words and boundaries. Layer normalization needs it.
        """
        if len(tensors) != self.mixture_size:
            raise BiLmError(f"expected {self.mixture_size} layers, got {len(tensors)}")
        if self.do_layer_norm:
            if mask is None:
                raise BiLmError("do_layer_norm needs the mask of the words")
            tensors = [_normalize(layer, mask[..., None]) for layer in tensors]
        layers = tensors if isinstance(tensors, Tensor) else torch.stack(list(tensors))
        weights = torch.softmax(torch.cat(list(self.scalar_parameters)), dim=0)
        return weighted_sum(self.gamma * weights, layers)


def _normalize(layer: Tensor, mask: Tensor) -> Tensor:
    """Subtracts the mean and divides by the deviation of all values under the mask, in float32 or better."""
    layer = layer.to(torch.promote_types(layer.dtype, torch.float32))
    number = mask.sum() * layer.size(-1)
    centred = layer - (layer * mask).sum() / number
    return centred / ((centred * mask).square().sum() / number + SMALLEST_VARIANCE).sqrt()
