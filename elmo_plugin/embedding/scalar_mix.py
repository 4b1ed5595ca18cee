"""The task-specific weighting of biLM layers: eq. (1) of Peters et al. (2018)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import Dropout, mixing_weights
from elmo_plugin.common.formats.torch_files import check_all_finite


class ScalarMix(nn.Module):
    """
    Computes `gamma * sum_j s_j h_j` with `s = softmax(w)`, eq. (1) of Peters et al. (2018).

    Initially all layers have the same weight and `gamma` is 1.

    # Parameters

    num_layers : `int`
        The number of layers `h_j`.
    trainable : `bool`
        Whether `w` (the parameter `weights`) and `gamma` are learned.
    initial_weights : `Sequence[float] | None`
        The initial `s_j`: one for each layer, not negative, of sum one. Unlike the pre-softmax values that
        other implementations take, `[0, 1, 0]` means the middle layer alone.

    Raises `BiLmError` for other `initial_weights`, and if `load_state_dict` reads NaN or infinity.
    """

    def __init__(
        self, num_layers: int, trainable: bool = True, initial_weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        weights = torch.zeros(num_layers)
        if initial_weights is not None:
            weights += torch.tensor(mixing_weights(initial_weights, num_layers))
            weights.clamp_min_(torch.finfo(weights.dtype).tiny).log_()  # finite for a weight of zero
        self.weights = nn.Parameter(weights, requires_grad=trainable)
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=trainable)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        check_all_finite((name, value) for name, value in state_dict.items() if name.startswith(prefix))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def normalized_weights(self) -> Tensor:
        """Returns the weights `s`, shape (num_layers,): positive, of sum one."""
        return torch.softmax(self.weights, dim=0)

    def forward(self, layers: Tensor) -> Tensor:
        """Returns the mix of `layers`, shape (num_layers, ...), in the type of the weights, shape (...)."""
        return weighted_sum(self.gamma * self.normalized_weights(), layers)


class LayerMix(nn.Module):
    """
    One ELMo representation: from all layers of a biLM, shape (num_layers, ..., dim), to vectors of shape
    (..., dim). It selects `layer_numbers`, normalizes if `layer_norm`, mixes, and applies dropout.
    """

    def __init__(
        self,
        layer_numbers: Sequence[int],
        layer_norm: bool = False,
        dropout: float = 0.5,
        mixing_weights: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.layer_numbers = list(layer_numbers)
        self.layer_norm = layer_norm
        self.scalar_mix = ScalarMix(len(self.layer_numbers), mixing_weights is None, mixing_weights)
        self.dropout = Dropout(dropout)

    def forward(self, layers: Tensor) -> Tensor:
        if self.layer_numbers != list(range(len(layers))):
            layers = layers[self.layer_numbers]
        if self.layer_norm:
            layers = nn.functional.layer_norm(layers, layers.shape[-1:])
        return self.dropout(self.scalar_mix(layers))


def weighted_sum(weights: Tensor, layers: Tensor) -> Tensor:
    """
    Returns `sum_j weights_j layers_j`, in the type of the weights. Autocast is switched off: it would round
    the vectors, and the gradients of the weights, to 16 bits.
    """
    with torch.autocast(layers.device.type, enabled=False):
        return torch.tensordot(weights, layers.to(weights.dtype), dims=1)
