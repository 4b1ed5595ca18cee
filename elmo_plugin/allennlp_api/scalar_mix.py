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


class ScalarMix(nn.Module):
    """
    Computes `gamma * sum_j s_j h_j` with `s = softmax(scalar_parameters)`. It takes the arguments of
    AllenNLP's class of this name.

    # Parameters

    mixture_size : `int`
        The number of layers `h_j`.
    do_layer_norm : `bool`
        Whether each layer is normalized before it is mixed, by one mean and one variance over all features of
        all words and boundaries of the batch.
    initial_scalar_parameters : `Sequence[float] | None`
        The values before the softmax to begin with; `None` for zeros.
    trainable : `bool`
        Whether they and `gamma`, which begins with 1, are learned.

    Raises `BiLmError` where there are not as many `initial_scalar_parameters` as layers, and where one of
    them, or of what `load_state_dict` takes, is not finite.
    """

    def __init__(
        self,
        mixture_size: int,
        do_layer_norm: bool = False,
        initial_scalar_parameters: Sequence[float] | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__()
        given = initial_scalar_parameters
        values = [0.0] * mixture_size if given is None else list(given)
        if len(values) != mixture_size or not all(map(isfinite, values)):
            expected = f"{mixture_size} scalar mix parameters, one a layer, all of them finite"
            raise BiLmError(f"there must be {expected}, not {values}")
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
        # Parameters

        tensors : `Tensor | Sequence[Tensor]`
            The layers: one tensor of shape (mixture_size, ..., dim), or as many of shape (..., dim).
        mask : `Tensor | None`
            Shape (...), true where there is a word or a boundary. It is needed for layer normalization.

        # Returns

        `Tensor`
            Shape (..., dim).

        Raises `BiLmError` where the number of layers differs, or a mask is needed and missing.
        """
        if len(tensors) != self.mixture_size:
            raise BiLmError(f"this mix is of {self.mixture_size} layers, not of {len(tensors)}")
        if self.do_layer_norm:
            if mask is None:
                raise BiLmError("a mix of normalized layers needs the mask of the words")
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
