"""The task-specific weighting of biLM layers."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elmo_plugin.common.errors import BiLmError


class ScalarMix(nn.Module):
    """
    `gamma * sum_j s_j h_j` with `s = softmax(w)`, eq. (1) of Peters et al. (2018).

    At first all layers weigh the same and `gamma` is 1.

    # Parameters

    num_layers : `int`
        How many layers `h_j` there are.
    trainable : `bool`
        Whether `w` (the parameter `weights`) and `gamma` are learned.
    initial_weights : `Sequence[float] | None`
        The `s_j` to begin with: one share a layer, none negative, scaled here to sum to one. Unlike the
        pre-softmax values that other implementations ask for, `[0, 1, 0]` means the middle layer alone.

    Raises `BiLmError` where `initial_weights` are no such shares.
    """

    def __init__(
        self, num_layers: int, trainable: bool = True, initial_weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        weights = torch.zeros(num_layers) if initial_weights is None else _log(initial_weights, num_layers)
        self.weights = nn.Parameter(weights, requires_grad=trainable)
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=trainable)

    def normalized_weights(self) -> Tensor:
        """The shares `s`, shape (num_layers,): positive, of sum one."""
        return torch.softmax(self.weights, dim=0)

    def forward(self, layers: Tensor) -> Tensor:
        """
        # Parameters

        layers : `Tensor`
            Shape (num_layers, ...), one layer behind the other, of any floating-point type.

        # Returns

        `Tensor`
            Shape (...), of the weights' type.
        """
        return torch.tensordot(self.gamma * self.normalized_weights(), layers.to(self.weights.dtype), dims=1)


def _log(shares: Sequence[float], num_layers: int) -> Tensor:
    """Finite pre-softmax values of the shares, also of those that are zero."""
    are_shares = all(isinstance(share, int | float) and share >= 0 for share in shares)
    if not are_shares or len(shares) != num_layers or not 0 < sum(shares) < float("inf"):
        raise BiLmError(
            f"mixing weights must be {num_layers} numbers, one a layer, none negative and not all zero, "
            f"not {list(shares)}"
        )
    values = torch.tensor(shares, dtype=torch.float)
    return (values / values.sum()).clamp_min(torch.finfo(torch.float).tiny).log()
