"""Matrix products with a weight that is laid out once, for the library that multiplies it.

float32   oneDNN on a CPU, with the weight in its blocked layout; elsewhere torch's own product
bfloat16  the same; products are summed in float32 and rounded to bfloat16
int8      on a CPU: weights scaled per row of the weight, inputs per row of the input, summed in int32
"""

from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from elmo_plugin.common.errors import BiLmError

PRECISIONS = ("float32", "bfloat16", "int8")


class Product(Protocol):
    """`inputs @ weight.t() + bias`, for `inputs` of shape (rows, columns of the weight)."""

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        """`added`, of the result's shape and type, is added to it."""


def check_precision(precision: str) -> str:
    """The precision itself, if there is such a one."""
    if precision not in PRECISIONS:
        raise BiLmError(f"the precision of a biLM is one of {', '.join(PRECISIONS)}, not {precision!r}")
    return precision


def prepare_product(weight: Tensor, bias: Tensor | None, precision: str) -> Product:
    """
    Lays out a weight.

    # Parameters

    weight : `Tensor`
        Shape (outputs, inputs). Later changes of it do not reach the product.
    bias : `Tensor | None`
        Shape (outputs,).
    precision : `str`
        One of `PRECISIONS`. The result has the type bfloat16 for "bfloat16", and else the weight's own type.

    Raises `BiLmError` where this machine cannot compute in the precision.
    """
    check_precision(precision)
    weight, bias = weight.detach(), None if bias is None else bias.detach().clone()
    on_cpu = weight.device.type == "cpu"
    if precision == "int8":
        if not on_cpu:
            raise BiLmError(f"the precision int8 is for a CPU; the biLM is on the device {weight.device}")
        return Int8Product(weight, bias)
    if precision == "bfloat16":
        if on_cpu and not has_bfloat16():
            raise BiLmError(
                "the precision bfloat16 needs a CPU with bfloat16 instructions and a torch with oneDNN, "
                "which are not here; use float32 or int8"
            )
        weight, bias = weight.bfloat16(), None if bias is None else bias.bfloat16()
    return _product(weight, bias)


def prepare_training_product(weight: Tensor, dtype: torch.dtype) -> Product:
    """
    Lays out a weight for products of a given type: see `training_dtype`.

    # Parameters

    weight : `Tensor`
        Shape (outputs, inputs). Later changes of it do not reach the product.
    dtype : `torch.dtype`
        Of factors and result.
    """
    return _product(weight.detach().to(dtype), None)


def training_dtype(like: Tensor) -> torch.dtype:
    """The type that products are to be computed in: autocast's where it is on, else that of `like`."""
    device = like.device.type
    if not hasattr(torch, "get_autocast_dtype"):  # torch before 2.4
        if device == "cuda":
            return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else like.dtype
        return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else like.dtype
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else like.dtype


def _product(weight: Tensor, bias: Tensor | None) -> Product:
    is_onednns = weight.device.type == "cpu" and weight.dtype in (torch.float, torch.bfloat16)
    return OneDnnProduct(weight, bias) if is_onednns and has_onednn() else PlainProduct(weight, bias)


class PlainProduct:
    """Torch's own product."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._weight = weight.t().clone(memory_format=torch.contiguous_format)
        self._bias = bias

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        inputs = inputs.to(self._weight.dtype)
        if added is not None:
            result = torch.addmm(added, inputs, self._weight)
            return result if self._bias is None else result.add_(self._bias)
        if self._bias is not None:
            return torch.addmm(self._bias, inputs, self._weight)
        return inputs @ self._weight


class OneDnnProduct:
    """oneDNN's product with a weight in oneDNN's blocked layout."""

    ROWS = 32  # the number of input rows that the layout is chosen for; it fits others as well

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._dtype = weight.dtype
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), self.ROWS)
        self._bias = bias

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        inputs = inputs.to(self._dtype)
        if added is None:
            return torch.ops.mkldnn._linear_pointwise(inputs, self._weight, self._bias, "none", [], "")
        return torch.ops.mkldnn._linear_pointwise.binary(inputs, added, self._weight, self._bias, "add")


class Int8Product:
    """
    A product of 8-bit integers, summed in 32 bits. Inputs are scaled row by row, by their greatest value, so
    that a row's result does not depend on the rows beside it.
    """

    ZERO_POINT = 128  # of the inputs, where the instructions want them unsigned

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        if not has_int8():
            raise BiLmError("the precision int8 needs torch 2.1 or later with oneDNN; use float32")
        integers, steps = to_integers(weight.float())
        self._laid_out = torch.ops.onednn.qlinear_prepack(integers.to(torch.int8), None)
        self._scales = steps.squeeze(1)
        self._zero_points = torch.zeros(len(weight), dtype=torch.int64)
        self._bias = bias

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        integers, steps = to_integers(inputs.float())
        result = torch.ops.onednn.qlinear_pointwise(
            integers.add_(self.ZERO_POINT).to(torch.uint8), 1.0, self.ZERO_POINT,
            self._laid_out, self._scales, self._zero_points,
            None, 1.0, 0, torch.float32, "none", [], "",
        )  # fmt: skip
        if added is not None:
            torch.addcmul(added, result, steps, out=result)
            return result if self._bias is None else result.add_(self._bias)
        if self._bias is not None:
            return torch.addcmul(self._bias, result, steps, out=result)
        return result.mul_(steps)


def to_integers(values: Tensor) -> tuple[Tensor, Tensor]:
    """
    Each row (last dimension) as whole numbers from -127 to 127, still of the values' type, and the step
    between them, shape (..., 1).
    """
    steps = torch.linalg.vector_norm(values, float("inf"), dim=-1, keepdim=True).div_(127)
    steps.clamp_min_(torch.finfo(torch.float).tiny)
    return torch.div(values, steps).round_(), steps


def has_onednn() -> bool:
    """Whether this torch can lay out weights for oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


def has_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 numbers."""
    if not has_onednn() or not hasattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported"):
        return False
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def has_int8() -> bool:
    """Whether this torch multiplies 8-bit integers with oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.onednn, "qlinear_pointwise")


@lru_cache
def has_int8_row() -> bool:
    """Whether this torch multiplies a row of 8-bit integers on a CPU."""
    zeros = torch.zeros(8, 8, dtype=torch.int8)
    try:
        torch._int_mm(zeros[:1], zeros)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return True
