"""Eq. (1) of the paper with the parameters, and the layer normalisation, of published implementations."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.embedding import weighted_sum

SMALLEST_VARIANCE = 1e-13


class ScalarMix(nn.Module):
    """
    Computes `gamma * sum_j s_j h_j` with `s = softmax(scalar_parameters)`.

    # Parameters

    num_layers : `int`
        The number of layers `h_j`.
    do_layer_norm : `bool`
        Whether each layer is normalised before it is mixed, by one mean and one variance over all features of
        all words and boundaries of the batch.
    scalar_parameters : `Sequence[float] | None`
        The values before the softmax, and that they and `gamma` stay as they are. `None` to learn both, from
        zeros and 1.

    Raises `BiLmError` where there are not as many `scalar_parameters` as layers.
    """

    def __init__(
        self, num_layers: int, do_layer_norm: bool = False, scalar_parameters: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        values = [0.0] * num_layers if scalar_parameters is None else scalar_parameters
        if len(values) != num_layers:
            raise BiLmError(f"there must be {num_layers} scalar mix parameters, one a layer, not {values}")
        self.do_layer_norm = do_layer_norm
        trainable = scalar_parameters is None
        self.scalar_parameters = nn.ParameterList(
            nn.Parameter(torch.tensor([float(value)]), requires_grad=trainable) for value in values
        )
        self.gamma = nn.Parameter(torch.ones(1), requires_grad=trainable)

    def forward(self, layers: Tensor, mask: Tensor) -> Tensor:
        """
        # Parameters

        layers : `Tensor`
            Shape (num_layers, batch, time, dim).
        mask : `Tensor`
            Shape (batch, time), true where there is a word or a boundary.

        # Returns

        `Tensor`
            Shape (batch, time, dim).
        """
        if self.do_layer_norm:
            layers = torch.stack([_normalize(layer, mask[..., None]) for layer in layers])
        weights = torch.softmax(torch.cat(list(self.scalar_parameters)), dim=0)
        return weighted_sum(self.gamma * weights, layers)


def _normalize(layer: Tensor, mask: Tensor) -> Tensor:
    """Subtracts the mean and divides by the deviation of all values under the mask; zeros elsewhere."""
    number = mask.sum() * layer.size(-1)
    centred = (layer - (layer * mask).sum() / number) * mask
    return centred / (centred.square().sum() / number + SMALLEST_VARIANCE).sqrt()
