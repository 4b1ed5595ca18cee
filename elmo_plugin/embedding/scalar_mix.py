"""The task-specific weighting of biLM layers."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.torch_files import check_all_finite

_ROUNDING = 0.01  # tolerance for the sum of weights, such as three times 0.333


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

    Raises `BiLmError` for other `initial_weights`, and where `load_state_dict` is given numbers that are not
    finite.
    """

    def __init__(
        self, num_layers: int, trainable: bool = True, initial_weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        weights = torch.zeros(num_layers) if initial_weights is None else _log(initial_weights, num_layers)
        self.weights = nn.Parameter(weights, requires_grad=trainable)
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=trainable)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        check_all_finite((name, each) for name, each in state_dict.items() if name.startswith(prefix))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def normalized_weights(self) -> Tensor:
        """Returns the weights `s`, shape (num_layers,): positive, of sum one."""
        return torch.softmax(self.weights, dim=0)

    def forward(self, layers: Tensor) -> Tensor:
        """
        # Parameters

        layers : `Tensor`
            Shape (num_layers, ...), of any floating-point type.

        # Returns

        `Tensor`
            Shape (...), of the weights' type.
        """
        return weighted_sum(self.gamma * self.normalized_weights(), layers)


def weighted_sum(weights: Tensor, layers: Tensor) -> Tensor:
    """
    Returns `sum_j weights_j layers_j`, of the weights' type. Autocast is switched off: it would round the
    vectors, and the gradients of the weights, to 16 bits.
    """
    with torch.autocast(layers.device.type, enabled=False):
        return torch.tensordot(weights, layers.to(weights.dtype), dims=1)


def _log(weights: Sequence[float], num_layers: int) -> Tensor:
    """Returns finite pre-softmax values of weights, also of those that are zero."""
    are_weights = all(isinstance(weight, int | float) and weight >= 0 for weight in weights)
    if not are_weights or len(weights) != num_layers or not abs(sum(weights) - 1) < _ROUNDING:
        raise BiLmError(
            f"mixing weights must be {num_layers} numbers, one for each layer, not negative and of sum 1, "
            f"not {list(weights)}"
        )
    values = torch.tensor(weights, dtype=torch.float)
    return (values / values.sum()).clamp_min(torch.finfo(torch.float).tiny).log()
