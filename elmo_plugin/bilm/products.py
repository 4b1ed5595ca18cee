"""Products of matrices: on a CPU oneDNN's, with weights in its own layout, elsewhere torch's."""

import faulthandler
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from elmo_plugin.common.provenance import processor


class PackedLinear(Protocol):
    """A product with a weight in the layout that is fastest to multiply."""

    def __call__(self, inputs: Tensor, added: Tensor | None = None, /) -> Tensor:
        """
        Returns `inputs @ weight.t()` plus the bias, shape (rows, outputs), for inputs of shape
        (rows, inputs). `added`, of the shape of the result, is added instead of the bias. With a
        weight for each direction, all shapes begin with the directions.
        """
        ...


def pack_linear(weight: Tensor, bias: Tensor | None) -> PackedLinear:
    """Packs a weight, shape (outputs, inputs), in its own type, for the fastest product."""
    if _is_fast_with_onednn(weight):
        return OneDnnLinear(weight, bias)
    return torch_linear(weight.t().clone(memory_format=torch.contiguous_format), bias)


def pack_for_training(weight: Tensor, dtype: torch.dtype) -> PackedLinear:
    """
    Packs a copy of a weight, shape (outputs, inputs), for products in `dtype`; see
    `autocast_dtype`.
    """
    return pack_linear(weight.detach().to(dtype), None)


def _is_fast_with_onednn(weight: Tensor) -> bool:
    """Returns whether products with this weight are faster in oneDNN's layout."""
    if weight.device.type != "cpu":
        return False
    if weight.dtype == torch.bfloat16:
        return has_bfloat16()
    return weight.dtype == torch.float32 and has_onednn()


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
def has_bfloat16() -> bool:
    """
    Returns whether oneDNN multiplies bfloat16 numbers on this CPU. The environment variable
    `ONEDNN_MAX_CPU_ISA` can forbid the instructions for it.
    """
    return has_onednn() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


@cache
def has_avx2_but_not_avx512() -> bool:
    """Returns whether torch computes with AVX2, as it does on x86 processors without AVX-512."""
    return torch.backends.cpu.get_cpu_capability() == "AVX2"


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
