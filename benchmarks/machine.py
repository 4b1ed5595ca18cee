"""Measures the machine, and the time and memory of a process."""

import json
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


def require(precision: str, device: str) -> None:
    """Ends the program unless the machine computes in the precision: what it measured would be float32."""
    if lacking := get_precision(precision).lacks(torch.device(device)):
        sys.exit(f"{precision} needs {lacking}: nothing is measured")


def matrix_product_rate(precision: str, device: str) -> float:
    """
    Operations per second of the best of several large matrix products in a precision, by torch's own product
    or, on a CPU, with a weight packed for oneDNN.
    """
    require(precision, device)
    size = 8192 if device == "cuda" else 2048
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
        return status("VmHWM")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def held_memory() -> int:
    """The bytes of memory that this process holds now; read from Linux's /proc."""
    return status("VmRSS")


def status(name: str, process: int | str | None = "self") -> int:
    """
    The bytes that Linux's /proc has under this name for a process; 0 for one that is just ending. Raises
    `OSError` if it is over.
    """
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), 0)


def in_fresh_process(*arguments: object) -> Any:
    """Runs a Python program with these arguments and returns its last line, as JSON."""
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])
