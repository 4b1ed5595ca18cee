"""Perplexity over all tokens of a pass, not averaged over batches."""

import math

import torch
from allennlp.training.metrics import Metric
from overrides import overrides


class TokenAverage(Metric):
    """The mean of a loss over all tokens seen since the last reset."""

    def __init__(self) -> None:
        self._total = 0.0
        self._tokens = 0

    def __call__(self, losses: torch.Tensor) -> None:
        """
        # Parameters

        losses : `Tensor`
            Shape (tokens,).
        """
        self._total += losses.detach().double().sum().item()
        self._tokens += losses.numel()

    @overrides
    def get_metric(self, reset: bool = False) -> float:
        average = self._total / self._tokens if self._tokens else math.nan
        if reset:
            self.reset()
        return average

    @overrides
    def reset(self) -> None:
        self._total, self._tokens = 0.0, 0


def perplexity(nats_per_token: float) -> float:
    """`exp` of the mean negative log-likelihood, infinite where that is beyond a float."""
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf
