"""Perplexity over all tokens of a pass, not averaged over batches."""

import math

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from overrides import overrides


class TokenAverage(Metric):
    """The mean of a loss over all tokens, of all processes, since the last reset."""

    def __init__(self) -> None:
        self.reset()

    def __call__(self, losses: torch.Tensor, mask: torch.BoolTensor | None = None) -> None:
        """
        # Parameters

        losses : `Tensor`
            One for each token, in any shape.
        mask : `BoolTensor`, optional
            In the same shape, which of them count.
        """
        if mask is None:
            mask = torch.ones_like(losses, dtype=torch.bool)
        self._total += torch.where(mask, losses.detach(), 0.0).double().sum().item()
        self._tokens += int(mask.sum())

    @overrides
    def get_metric(self, reset: bool = False) -> float:
        sums = torch.tensor([self._total, self._tokens], dtype=torch.float64)
        total, tokens = dist_reduce_sum(sums).tolist()
        if reset:
            self.reset()
        return total / tokens if tokens else math.nan

    @overrides
    def reset(self) -> None:
        self._total, self._tokens = 0.0, 0

    def state(self) -> tuple[float, int]:
        """What has been summed up by this process, for `restore`."""
        return self._total, self._tokens

    def restore(self, state: tuple[float, int]) -> None:
        self._total, self._tokens = state


def perplexity(nats_per_token: float) -> float:
    """`exp` of the mean negative log-likelihood, infinite where that is beyond a float."""
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf
