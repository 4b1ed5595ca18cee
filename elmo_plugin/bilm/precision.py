"""The precisions in which a biLM computes without gradients.

bfloat16 rounds the factors and the result; products are summed in float32.
"""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from elmo_plugin.bilm import int8
from elmo_plugin.bilm.products import (
    PackedLinear,
    has_avx2_but_not_avx512,
    has_bfloat16,
    pack_linear,
    torch_linear,
)
from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.logs import get_logger

logger = get_logger(__name__)


class Precision:
    """
    Packs weights for products in one precision. This class multiplies in the type of the
    parameters: float32, unless a user has converted them. Parameters and activations keep their
    type in every precision. Weights have the shape (outputs, inputs); weights and biases are
    copied.
    """

    name = "float32"
    # The limits of `prefers_batched_directions`. They were measured on processors with AVX-512, and
    # on one with AVX2 but not AVX-512.
    most_batched_multiplications = 1 << 21
    most_batched_multiplications_avx2 = 1 << 24

    def missing_on(self, device: torch.device) -> str:
        """
        Returns what the device needs, but does not have, to compute in this precision; an empty
        string if nothing is missing.
        """
        return ""

    def activation_dtype(self, weight: Tensor) -> torch.dtype:
        """Returns the type of the products with a packed weight."""
        return weight.dtype

    def pack(self, weight: Tensor, bias: Tensor | None = None) -> PackedLinear:
        """Packs a weight, and the bias that is added to its products."""
        dtype = self.activation_dtype(weight)
        if bias is not None:
            bias = bias.detach().to(dtype, copy=True)
        return pack_linear(weight.detach().to(dtype), bias)

    def pack_directions(self, weights: Sequence[Tensor]) -> PackedLinear:
        """Packs a weight for each direction, for one batched product."""
        transposed = torch.stack([weight.detach().t() for weight in weights])
        return torch_linear(transposed.to(self.activation_dtype(weights[0])))

    def prefers_batched_directions(self, rows: float, multiplications: float) -> bool:
        """
        Returns whether one batched product for both directions is faster on a CPU than a product
        for each direction. It is if the products are small. `rows` is the mean number of rows of a
        time step. `multiplications` is the number of multiplications in the recurrent product of
        such a time step, for one direction.
        """
        if not has_avx2_but_not_avx512():
            return multiplications <= self.most_batched_multiplications
        # For one or two rows oneDNN reads a large weight at half the speed of torch's own product,
        # and only torch's own product can be batched.
        has_few_rows = rows <= 2
        return has_few_rows or multiplications <= self.most_batched_multiplications_avx2


class BFloat16(Precision):
    """Halves the memory traffic of float32, on GPUs and on CPUs with instructions for bfloat16."""

    name = "bfloat16"
    most_batched_multiplications = 1 << 20

    def missing_on(self, device: torch.device) -> str:
        if device.type != "cpu" or has_bfloat16():
            return ""
        return "a CPU with bfloat16 instructions and a torch with oneDNN"

    def activation_dtype(self, weight: Tensor) -> torch.dtype:
        return torch.bfloat16


class Int8(Precision):
    """
    Needs a quarter of the memory traffic of float32, on CPUs whose products of 8-bit integers are
    exact.
    """

    name = "int8"

    def missing_on(self, device: torch.device) -> str:
        if device.type != "cpu" or not int8.has_int8():
            return "a CPU and a torch with oneDNN"
        if not int8.int8_is_exact():
            return "a CPU with exact products of 8-bit integers (VNNI on x86)"
        return ""

    def pack(self, weight: Tensor, bias: Tensor | None = None) -> PackedLinear:
        if bias is not None:
            bias = bias.detach().clone()
        return int8.Int8Linear(weight.detach(), bias)

    def pack_directions(self, weights: Sequence[Tensor]) -> PackedLinear:
        return int8.Int8Directions(weights)

    def activation_dtype(self, weight: Tensor) -> torch.dtype:
        return torch.float32

    def prefers_batched_directions(self, rows: float, multiplications: float) -> bool:
        if rows != 1:  # for more than one row, oneDNN's own layout is as fast or faster
            return False
        is_small = multiplications <= self.most_batched_multiplications
        return is_small and int8.can_multiply_int8_row()


_SHORT_NAMES = {"fp32": "float32", "bf16": "bfloat16"}
FLOAT32 = Precision()
PRECISIONS: dict[str, Precision] = {
    precision.name: precision for precision in (FLOAT32, BFloat16(), Int8())
}


def get_precision(name: str | torch.dtype) -> Precision:
    """
    Returns the precision with this name. The name may also be short, such as "bf16", or a type,
    such as `torch.bfloat16`. Raises `BiLmError` if it is unknown.
    """
    full_name = str(name).removeprefix("torch.")
    if full_name in _SHORT_NAMES:
        full_name = _SHORT_NAMES[full_name]
    check_choice("precision", full_name, PRECISIONS)
    return PRECISIONS[full_name]


def precision_on(device: torch.device, name: str | torch.dtype) -> Precision:
    """
    Returns the precision with this name; or float32, with one warning, if the device cannot compute
    in it.
    """
    precision = get_precision(name)
    missing = precision.missing_on(device)
    if missing:
        _warn_once("%s needs %s: float32 is computed", precision.name, missing)
        return FLOAT32
    return precision


_warn_once = cache(logger.warning)  # the cache leaves out further calls with the same message
