"""Perplexity over all tokens of a pass, not averaged over batches."""

import math

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from overrides import overrides


class TokenAverage(Metric):
    """The mean of a loss over all tokens, of all processes, since the last reset."""

    _sums: torch.Tensor  # of the losses, and of their number

    def __init__(self) -> None:
        self.reset()

    def __call__(self, losses: torch.Tensor, mask: torch.Tensor | None = None) -> None:  # type: ignore[override]
        """
        # Parameters

        losses : `Tensor`
            One for each token, in any shape.
        mask : `BoolTensor`, optional
            In the same shape, which of them count.
        """
        if mask is None:
            mask = torch.ones_like(losses, dtype=torch.bool)
        counted = torch.where(mask, losses.detach(), 0.0)
        sums = torch.stack([counted.sum(dtype=torch.float64), mask.sum(dtype=torch.float64)])
        self._sums = self._sums.to(sums.device) + sums  # not read here, so that nothing waits for a GPU

    @overrides
    def get_metric(self, reset: bool = False) -> float:
        total, tokens = dist_reduce_sum(self._sums).tolist()
        if reset:
            self.reset()
        return total / tokens if tokens else math.nan

    @overrides
    def reset(self) -> None:
        self.restore((0.0, 0))

    def state(self) -> tuple[float, int]:
        """Returns the sum of the losses and the number of tokens of this process, for `restore`."""
        total, tokens = self._sums.tolist()
        return total, int(tokens)

    def restore(self, state: tuple[float, int]) -> None:
        self._sums = torch.tensor(state, dtype=torch.float64)
