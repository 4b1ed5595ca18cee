"""The precisions in which a biLM computes without gradients, and the products of all of them.

bfloat16 rounds the factors and the result; products are summed in float32. On a CPU products are
oneDNN's, with weights in its own layout, elsewhere torch's.
"""

import faulthandler
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from elmo_plugin.bilm import int8
from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.provenance import processor

logger = get_logger(__name__)


class PackedLinear(Protocol):
    """A product with a weight in the layout that is fastest to multiply."""

    def __call__(self, inputs: Tensor, added: Tensor | None = None, /) -> Tensor:
        """
        Returns `inputs @ weight.t()` plus the bias, shape (rows, outputs), for inputs of shape
        (rows, inputs). `added`, of the shape of the result, is added instead of the bias. With a
        weight for each direction, all shapes begin with the directions.
        """
        ...


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
        return _pack(weight.detach().to(dtype), bias)

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


class OneDnnLinear:
    """oneDNN's product with a weight in oneDNN's blocked layout."""

    # The number of input rows that the layout is chosen for. Other numbers work as well.
    ROWS = 32

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        handle_signals_on_another_stack()
        self._dtype = weight.dtype
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), self.ROWS)
        self._bias = bias

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        """Returns the product plus the bias, or plus `added` instead of the bias."""
        inputs = inputs.to(self._dtype)
        if added is None:
            # The operation after the product is "none", without arguments and algorithm.
            return torch.ops.mkldnn._linear_pointwise(
                inputs, self._weight, self._bias, "none", [], ""
            )
        bias = None  # because `added` is in its place
        return torch.ops.mkldnn._linear_pointwise.binary(inputs, added, self._weight, bias, "add")


def handle_signals_on_another_stack() -> None:
    """
    Gives the main thread an alternate stack for signal handlers. Python's handlers run on an
    alternate stack if there is one (`SA_ONSTACK`), and `faulthandler` makes one.

    Without it, a signal that arrives during a float32 product of oneDNN can damage the heap or the
    product. Ctrl-C sends such a signal. This was seen with torch 2.11 on AVX2 and AVX-512; perhaps
    the kernels of oneDNN use the stack pointer as a general register. Other threads still have no
    alternate stack.
    """
    if faulthandler.is_enabled():  # it has made an alternate stack already
        return
    # An alternate stack belongs to the thread that makes it.
    in_main_thread = threading.current_thread() is threading.main_thread()
    # `faulthandler` needs a file for its reports, and `stderr` is `None` without a console.
    if in_main_thread and sys.__stderr__ is not None:
        faulthandler.enable(sys.__stderr__)


def torch_linear(transposed: Tensor, bias: Tensor | None = None) -> PackedLinear:
    """
    Returns a function that multiplies with torch's own product. `transposed` is a single weight,
    shape (inputs, outputs); or a weight for each direction, shape (directions, inputs, outputs).
    All directions are multiplied in one batched product.
    """
    add_product: Callable[..., Tensor]
    if transposed.dim() == 2:
        add_product = torch.addmm
    else:
        add_product = torch.baddbmm

    def products(inputs: Tensor, added: Tensor | None = None) -> Tensor:
        """Returns the products plus the bias, or plus `added` instead of the bias."""
        inputs = inputs.to(transposed.dtype)
        summand = bias if added is None else added
        if summand is None:
            return inputs @ transposed
        return add_product(summand, inputs, transposed)

    return products


def pack_for_training(weight: Tensor, dtype: torch.dtype) -> PackedLinear:
    """
    Packs a copy of a weight, shape (outputs, inputs), for products in `dtype`; see
    `autocast_dtype`.
    """
    return _pack(weight.detach().to(dtype), None)


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """
    Returns `left @ right`, for two matrices or for two batches of matrices of the same type.
    """
    if left.dim() > 2 or not _is_faster_without_mkl(left):
        return torch.matmul(left, right)
    handle_signals_on_another_stack()
    bias = None
    # The operation after the product is "none", without arguments and algorithm.
    return torch.ops.mkldnn._linear_pointwise(left, right.t(), bias, "none", [], "")


def _is_faster_without_mkl(matrix: Tensor) -> bool:
    """
    Returns whether products with this matrix are faster with oneDNN than with MKL, the library that
    torch uses. On some AMD processors MKL multiplies float32 matrices at little more than half of
    oneDNN's speed.
    """
    if matrix.device.type != "cpu" or matrix.dtype != torch.float32:
        return False
    return has_onednn() and not _is_intel_processor()


@cache
def _is_intel_processor() -> bool:
    """Returns whether this is an Intel processor, on which MKL is faster and needs no copies."""
    return "Intel" in processor()


def autocast_dtype(like: Tensor) -> torch.dtype:
    """Returns the type for products: autocast's if it is on, else the type of `like`."""
    device = like.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return like.dtype


def has_onednn() -> bool:
    """Returns whether this torch can pack weights for oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(
        torch.ops.mkldnn, "_reorder_linear_weight"
    )


@cache
def has_avx2_but_not_avx512() -> bool:
    """Returns whether torch computes with AVX2, as it does on x86 processors without AVX-512."""
    return torch.backends.cpu.get_cpu_capability() == "AVX2"


@cache
def has_bfloat16() -> bool:
    """
    Returns whether oneDNN multiplies bfloat16 numbers on this CPU. The environment variable
    `ONEDNN_MAX_CPU_ISA` can forbid the instructions for it.
    """
    return has_onednn() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def _pack(weight: Tensor, bias: Tensor | None) -> PackedLinear:
    """Packs a weight, shape (outputs, inputs), in its own type, for the fastest product."""
    if _is_fast_with_onednn(weight):
        return OneDnnLinear(weight, bias)
    return torch_linear(weight.t().clone(memory_format=torch.contiguous_format), bias)


def _is_fast_with_onednn(weight: Tensor) -> bool:
    """Returns whether products with this weight are faster in oneDNN's layout."""
    if weight.device.type != "cpu":
        return False
    if weight.dtype == torch.bfloat16:
        return has_bfloat16()
    return weight.dtype == torch.float32 and has_onednn()
