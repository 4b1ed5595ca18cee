"""A step of training, of whatever network. It needs no AllenNLP."""

from typing import Any

import torch
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: dict[str, Any],
    max_norm: float,
    loss_scale: float = 1.0,
) -> Tensor:
    """Forward, backward, clipping of the gradient's norm, optimizer; gives the loss, not scaled."""
    optimizer.zero_grad()
    loss = model(**batch)["loss"]
    (loss_scale * loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()
