"""Gradients without a second derivative."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor


def first_derivative_only(backward: Callable[..., Any]) -> Callable[..., Any]:
    """
    Decorates the `backward` of an autograd function without second derivatives. It raises
    `NotImplementedError`, a `RuntimeError`, if its result is to be differentiated again
    (`create_graph=True`).

    torch's `once_differentiable` is not enough: it raises only if the incoming gradient itself
    requires gradients. After `outputs.sum()` the incoming gradient is a constant, and a part of the
    second derivative would silently be missing.
    """

    @wraps(backward)
    def checked(ctx: Any, *d_outputs: Tensor) -> Any:
        if torch.is_grad_enabled():  # torch disables gradients here unless `create_graph=True`
            name = type(ctx).__name__.removesuffix("Backward")
            raise NotImplementedError(
                f"{name} does not support second derivatives: its gradient is written by hand, "
                "and cannot be differentiated again (create_graph=True)"
            )
        return backward(ctx, *d_outputs)

    return checked
