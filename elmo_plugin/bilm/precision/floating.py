"""float32 and bfloat16: oneDNN's products on a CPU, torch's own elsewhere, and the products of training.

bfloat16 rounds the factors and the result; products are summed in float32.
"""

import faulthandler
import sys
import threading
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from elmo_plugin.bilm.precision.base import PackedDirections, PackedLinear, Precision
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.provenance import processor


class Floating(Precision):
    """Computes in the type of the activations, which subclasses define."""

    most_batched: int  # multiplications up to which both directions are faster in one product

    def pack(self, weight: Tensor, bias: Tensor | None) -> PackedLinear:
        dtype = self.activation_dtype(weight)
        return _pack(weight.detach().to(dtype), None if bias is None else bias.detach().to(dtype, copy=True))

    def pack_directions(self, weights: Sequence[Tensor]) -> PackedDirections:
        return FloatDirections(weights, self.activation_dtype(weights[0]))

    def prefers_batched_directions(self, rows: float, multiplications: float) -> bool:
        return multiplications <= self.most_batched


class Float32(Floating):
    """The type of the parameters themselves: float64 where these are."""

    name = "float32"
    most_batched = 1 << 21  # measured on two cores with AVX-512

    def check(self, device: torch.device) -> None:
        """Every machine computes in it."""

    def activation_dtype(self, weight: Tensor) -> torch.dtype:
        return weight.dtype


class BFloat16(Floating):
    """Half the memory traffic of float32, where the CPU has instructions for it, and on GPUs."""

    name = "bfloat16"
    most_batched = 1 << 20  # measured on two cores with AVX-512

    def check(self, device: torch.device) -> None:
        if device.type == "cpu" and not has_bfloat16():
            raise BiLmError(
                "the precision bfloat16 needs a CPU with bfloat16 instructions and a torch with oneDNN, "
                "which are not here; use float32"
            )

    def activation_dtype(self, weight: Tensor) -> torch.dtype:
        return torch.bfloat16


class PlainLinear:
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


class OneDnnLinear:
    """oneDNN's product with a weight in oneDNN's blocked layout."""

    ROWS = 32  # the number of input rows that the layout is chosen for; it fits others as well

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        handle_signals_on_another_stack()
        self._dtype = weight.dtype
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), self.ROWS)
        self._bias = bias

    def __call__(self, inputs: Tensor, added: Tensor | None = None) -> Tensor:
        inputs = inputs.to(self._dtype)
        if added is None:
            return torch.ops.mkldnn._linear_pointwise(inputs, self._weight, self._bias, "none", [], "")
        return torch.ops.mkldnn._linear_pointwise.binary(inputs, added, self._weight, self._bias, "add")


class FloatDirections:
    """One batched product for all directions."""

    def __init__(self, weights: Sequence[Tensor], dtype: torch.dtype) -> None:
        # Shape: (directions, inputs, outputs)
        self._weights = torch.stack([weight.detach().t() for weight in weights]).to(dtype)

    def __call__(self, inputs: Tensor, out: Tensor, added: Tensor | None = None) -> None:
        weights = self._weights
        if not inputs.dtype == out.dtype == weights.dtype:
            inputs = inputs.to(weights.dtype)
            products = torch.bmm(inputs, weights) if added is None else torch.baddbmm(added, inputs, weights)
            out.copy_(products)
        elif added is None:
            torch.bmm(inputs, weights, out=out)
        else:
            torch.baddbmm(added, inputs, weights, out=out)


def handle_signals_on_another_stack() -> None:
    """
    Gives the main thread an alternate stack for signal handlers. Without one, a signal that arrives during
    a float32 product of oneDNN, such as that of Ctrl-C, can damage the heap or the product (seen with torch
    2.11 on AVX2 and AVX-512; perhaps its kernels use the stack pointer as a general register). Python's
    handlers run on an alternate stack where there is one (`SA_ONSTACK`), and `faulthandler` makes one. Other
    threads are not covered.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and sys.__stderr__ is not None and not faulthandler.is_enabled():
        faulthandler.enable(sys.__stderr__)


def pack_for_training(weight: Tensor, dtype: torch.dtype) -> PackedLinear:
    """
    Packs a weight for products in training; see `autocast_dtype`.

    # Parameters

    weight : `Tensor`
        Shape (outputs, inputs). Later changes to it do not affect the product.
    dtype : `torch.dtype`
        The type of factors and result.
    """
    return _pack(weight.detach().to(dtype), None)


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """
    Returns `left @ right`. For two float32 matrices on a CPU that is not Intel's, oneDNN takes the place of
    MKL, which some processors of AMD run at little more than half its speed.
    """
    are_float32_matrices = left.dim() == 2 and left.dtype == torch.float32
    if are_float32_matrices and left.device.type == "cpu" and has_onednn() and not _is_intel_processor():
        handle_signals_on_another_stack()
        return torch.ops.mkldnn._linear_pointwise(left, right.t(), None, "none", [], "")
    return torch.matmul(left, right)


@cache
def _is_intel_processor() -> bool:
    """Returns whether this processor is one of Intel's, on which MKL is the faster, and needs no copies."""
    return "Intel" in processor()


def autocast_dtype(like: Tensor) -> torch.dtype:
    """Returns the type for products: that of autocast if it is on, else that of `like`."""
    device = like.device.type
    if not hasattr(torch, "get_autocast_dtype"):  # torch before 2.4
        if device == "cuda":
            return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else like.dtype
        return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else like.dtype
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else like.dtype


def has_onednn() -> bool:
    """Returns whether this torch can pack weights for oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


def has_bfloat16() -> bool:
    """Returns whether this CPU multiplies bfloat16 numbers."""
    return has_onednn() and bool(getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", bool)())


def _pack(weight: Tensor, bias: Tensor | None) -> PackedLinear:
    is_packed_by = {torch.float: has_onednn, torch.bfloat16: has_bfloat16}.get(weight.dtype)
    is_onednns = weight.device.type == "cpu" and is_packed_by is not None and is_packed_by()
    return OneDnnLinear(weight, bias) if is_onednns else PlainLinear(weight, bias)
