"""Measures the machine, and the time and memory of a process. It needs no AllenNLP."""

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from elmo_plugin.bilm.precision import get_precision

MEGABYTE = 10**6
# By a part of torch's name of the card, the most special first: 10^12 operations per second of
# dense products in float32, TF32 and bfloat16, from the makers' data sheets. 0: not supported by
# the card
CARDS = {
    "H100 PCIe": (51, 378, 756),
    "H100 NVL": (60, 418, 835),
    "H100": (67, 495, 989),
    "H200": (67, 495, 989),
    "A100": (19.5, 156, 312),
    "V100": (15.7, 0, 0),
    "A10": (31.2, 62.5, 125),
    "L40S": (91.6, 183, 366),
    "L40": (90.5, 90.5, 181),
    "L4": (30.3, 60, 121),
    "T4": (8.1, 0, 0),
    "RTX 4090": (82.6, 82.6, 165),
    "RTX 3090": (35.6, 35.6, 71),
}


def require(precision: str, device: str) -> None:
    """
    Ends the program unless the machine computes in the precision: what it measured would be
    float32.
    """
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("--device cuda: torch finds no GPU here")
    if lacking := get_precision(precision).missing_on(torch.device(device)):
        sys.exit(f"{precision} needs {lacking}: nothing is measured")


LARGE_PRODUCT = {"cpu": 2048, "cuda": 8192}  # rows and columns of each factor


def matrix_product_rate(precision: str, device: str) -> float:
    """
    Operations per second of the best of several large matrix products in a precision, by torch's
    own product or, on a CPU, with a weight packed for oneDNN.
    """
    size = LARGE_PRODUCT[device]
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    inputs, weight = torch.randn(2, size, size, device=device, dtype=dtype)
    product = get_precision(precision).pack(weight.float(), None)
    products: list[Callable[[], object]] = [lambda: product(inputs)]
    if precision != "int8":
        products.append(lambda: torch.mm(inputs, weight))
    elif hasattr(torch, "_int_mm"):  # no scaling of the inputs, as the product above has it
        integers = torch.randint(-127, 128, (size, size), dtype=torch.int8)
        products.append(lambda: torch._int_mm(integers, integers))
    return 2 * size**3 / min(seconds(multiply, device) for multiply in products for _ in range(12))


def listed_rate(precision: str) -> float | None:
    """Operations per second by the data sheet of the card, if it is known."""
    name = torch.cuda.get_device_name()
    rates = next(
        (rates for part, rates in CARDS.items() if re.search(rf"\b{part}(?!\d)", name)), (0, 0, 0)
    )
    is_float32 = torch.get_float32_matmul_precision() == "highest"
    return 1e12 * rates[2 if precision == "bfloat16" else 0 if is_float32 else 1] or None


def shares_of_peak(operations_per_second: float, precision: str, device: str) -> dict[str, float]:
    """The speed beside the machine's best matrix product and, on a GPU, its data sheet."""
    peak = matrix_product_rate(precision, device)
    figures = {"peak_operations_per_second": peak, "share_of_peak": operations_per_second / peak}
    if device == "cuda" and (listed := listed_rate(precision)):
        figures["share_of_listed_peak"] = operations_per_second / listed
    return figures


def memory_read_rate() -> float:
    """Bytes per second of a matrix-vector product whose matrix is larger than any cache."""
    rows, columns = 1 << 15, 1 << 14
    matrix, vector = torch.ones(rows, columns), torch.ones(columns)
    return 4 * rows * columns / min(seconds(lambda: matrix.mv(vector)) for _ in range(5))


def seconds(work: Callable[[], object], device: str = "cpu") -> float:
    """The seconds `work` takes, including the operations it started on the device."""
    finish(device)
    start = time.perf_counter()
    work()
    finish(device)
    return time.perf_counter() - start


def finish(device: str) -> None:
    """Waits for the operations started on the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def device_name(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


def peak_memory(device: str = "cpu") -> int:
    """
    The most bytes that this process has held: of memory, or of what torch took on a GPU.

    Linux inherits `ru_maxrss` from the parent process, so this reads /proc instead.
    """
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    if Path("/proc/self/status").exists():
        return peak_of_process("self")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def peak_of_process(process: int | str | None) -> int:
    """
    The most bytes that a process has held, from Linux's /proc; 0 for one that is just ending.
    Raises `OSError` if it is over.
    """
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def in_fresh_process(*arguments: object) -> Any:
    """Runs a Python program with these arguments and returns its last line, as JSON."""
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def profile(work: Callable[[], object], device: str) -> dict[str, Any]:
    """
    Profiles work: the seconds that pass without the profiler, those in which the GPU was busy, and
    the twelve longest operations, in milliseconds and calls.
    """
    taken = seconds(work, device)
    activities = [torch.profiler.ProfilerActivity.CPU] if device == "cpu" else None  # all
    with torch.profiler.profile(activities=activities) as profiler:
        work()
        finish(device)
    where = "self_device_time_total" if device == "cuda" else "self_cpu_time_total"
    events = sorted(profiler.key_averages(), key=lambda event: -getattr(event, where))
    kernels = [event for event in events if event.device_type == torch.autograd.DeviceType.CUDA]
    return {
        "seconds": taken,
        "gpu_busy_seconds": sum(event.self_device_time_total for event in kernels) / 1e6,
        "longest": [
            [event.key[:80], getattr(event, where) / 1e3, event.count] for event in events[:12]
        ],
    }
