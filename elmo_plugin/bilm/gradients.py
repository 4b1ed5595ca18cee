"""For autograd functions whose gradients are written by hand."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

Backward = Callable[..., tuple[Tensor | None, ...]]


def first_derivative_only(backward: Backward) -> Backward:
    """
    Decorates the `backward` of an autograd function that has no second derivatives. It raises
    `NotImplementedError`, a `RuntimeError`, where its result is to be differentiated again: with
    `create_graph=True`, as gradient penalties and `torch.autograd.functional.hessian` ask for.

    torch's `once_differentiable` raises only where the gradient that comes in has a graph itself. That of
    `outputs.sum()` has none, and the second derivative would silently lack a part.
    """

    @wraps(backward)
    def checked(ctx: Any, *d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # in a backward pass, only with `create_graph=True`
            name = type(ctx).__name__.removesuffix("Backward")
            raise NotImplementedError(
                f"{name} has no second derivatives: its gradient is written by hand, and cannot be "
                "differentiated again (create_graph=True)"
            )
        return backward(ctx, *d_outputs)

    return checked
