"""Dropout with masks that a CPU draws quickly."""

import torch
from torch import Tensor, nn

from elmo_plugin.common.integers import ceil_div

# This many random bits decide whether a value is dropped, so the rate is rounded to multiples of
# 2 ** -16.
BITS = 16
VALUES_PER_DRAW = 64 // BITS  # a draw has 64 random bits


class Dropout(nn.Dropout):
    """
    `torch.nn.Dropout`, but 1.7 to 2.9 times as fast on a CPU. torch draws each value of the mask by
    itself; here four values come from one random number of 64 bits. So the same seed drops other
    values than in torch. On a GPU, this is torch's dropout.
    """

    def forward(self, input: Tensor) -> Tensor:
        drops_some_values = self.training and 0 < self.p < 1
        if not drops_some_values or input.device.type != "cpu":
            return super().forward(input)
        is_kept = _draw_mask(input.shape, self.p)
        return (input * is_kept).mul_(1 / (1 - self.p))


def _draw_mask(shape: torch.Size, drop_rate: float) -> Tensor:
    """Returns for each value of a tensor of this shape whether it is kept, drawn at random."""
    num_values = shape.numel()
    draws = torch.empty(ceil_div(num_values, VALUES_PER_DRAW), dtype=torch.int64)
    draws.random_(-(2**63), None)  # any number of 64 bits: `None` stands for the greatest one
    # The same memory, read as numbers of 16 bits: one for each value.
    random_numbers = draws.view(torch.int16)[:num_values].view(shape)
    # The lowest numbers mean "dropped", and the others "kept". At least the greatest number means
    # "kept", because `first_kept` must be a number of 16 bits itself.
    least_number = -(2 ** (BITS - 1))
    num_dropping = min(round(drop_rate * 2**BITS), 2**BITS - 1)
    first_kept = least_number + num_dropping
    return random_numbers >= first_kept
