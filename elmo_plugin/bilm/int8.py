"""int8 on a CPU: weights scaled per row of the weight, inputs per row of the input, summed in
int32.

A row's result does not depend on the rows next to it.
"""

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

ZERO_POINT = 128  # added to the integers of inputs, because the instructions expect unsigned ones
MAX_INTEGER = 127


class Int8Linear:
    """
    A linear layer computed by oneDNN, with its weight packed in oneDNN's own layout and its inputs
    as unsigned integers.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        integers, steps = to_integers(weight.float())
        shape_of_inputs = None  # not known yet
        self._weight = torch.ops.onednn.qlinear_prepack(integers.to(torch.int8), shape_of_inputs)
        self._weight_steps = steps.squeeze(1)  # Shape: (outputs,)
        # Zeros, because the integers of the weight are signed, and nothing is added to them.
        self._weight_zero_points = torch.zeros(len(weight), dtype=torch.int64)
        self._bias = bias

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        """Returns the product plus the bias, or plus `added` instead of the bias."""
        integers, steps = to_integers(inputs.float())
        result = torch.ops.onednn.qlinear_pointwise(
            integers.add_(ZERO_POINT).to(torch.uint8),
            1.0,  # scale of all inputs: instead, each row is multiplied by its own step below
            ZERO_POINT,
            self._weight,
            self._weight_steps,
            self._weight_zero_points,
            None,  # bias: added below, after the multiplication by the steps
            1.0,  # scale of the output
            0,  # zero point of the output
            torch.float32,
            "none",  # no operation after the product, so it needs neither arguments nor algorithm
            [],
            "",
        )
        if added is None:
            added = self._bias
        if added is None:
            return result.mul_(steps)
        return torch.addcmul(added, result, steps, out=result)


class Int8Directions:
    """
    Computes the products of all directions at once, with the same integers as `Int8Linear`, but in
    the layout that is fastest for a single row of inputs.
    """

    def __init__(self, weights: Sequence[Tensor]) -> None:
        self._weights = []
        steps_of_directions = []
        for weight in weights:
            integers, steps = to_integers(weight.detach().float())
            self._weights.append(integers.to(torch.int8).t())
            steps_of_directions.append(steps)
        # Shape: (directions, 1, outputs)
        self._weight_steps = torch.stack(steps_of_directions).transpose(1, 2)

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        """Returns the products, shape (directions, rows, outputs), plus `added` of that shape."""
        integers, steps = to_integers(inputs.float())
        num_outputs = self._weight_steps.size(2)
        products = integers.new_empty(*integers.shape[:2], num_outputs, dtype=torch.int32)
        # The three are taken apart by direction, and the product of each is written to its place.
        for rows, weight, product in zip(
            integers.to(torch.int8), self._weights, products, strict=True
        ):
            torch._int_mm(rows, weight, out=product)
        scaled = torch.mul(products, self._weight_steps)
        if added is None:
            return scaled.mul_(steps)
        return torch.addcmul(added, scaled, steps, out=scaled)


def to_integers(values: Tensor) -> tuple[Tensor, Tensor]:
    """
    Scales each row (the last dimension) by its greatest absolute value. Returns whole numbers from
    -127 to 127, still in the type of `values`, and the step between them, shape (..., 1).
    """
    steps = values.abs().amax(dim=-1, keepdim=True).div_(MAX_INTEGER)
    steps.clamp_min_(torch.finfo(torch.float).tiny)  # a row of zeros is not divided by zero
    return torch.div(values, steps).round_(), steps


def has_int8() -> bool:
    """Returns whether this torch multiplies 8-bit integers with oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.onednn, "qlinear_pointwise")


@lru_cache
def can_multiply_int8_row() -> bool:
    """Returns whether this torch multiplies a single row of 8-bit integers on a CPU."""
    matrix = torch.zeros(8, 8, dtype=torch.int8)
    row = matrix[:1]
    try:
        torch._int_mm(row, matrix)
    except (AttributeError, RuntimeError):  # an older torch lacks it, or refuses a CPU
        return False
    return True


@lru_cache
def int8_is_exact() -> bool:
    """
    Returns whether this machine multiplies the largest 8-bit integers correctly. Without VNNI
    instructions oneDNN adds two products in 16 bits and may overflow silently.
    """
    with torch.inference_mode(False), torch.no_grad():
        # Two summands overflow already, so small matrices are enough.
        inputs = torch.full((2, 64), float(MAX_INTEGER))
        weight = torch.full((16, 64), float(MAX_INTEGER))
        weight[::2] *= -1  # sums may overflow upwards and downwards
        expected = inputs @ weight.t()
        linear = Int8Linear(weight, None)
        is_exact = torch.allclose(linear(inputs), expected)
        if is_exact and can_multiply_int8_row():
            one_direction = Int8Directions([weight])
            row = inputs[:1]
            product = one_direction(row[None])  # Shape: (directions, rows, outputs)
            is_exact = torch.allclose(product[0], expected[:1])
    return is_exact
