"""Peak speeds of GPUs by data type, and the share that a program reaches."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from machine import finish, matrix_product_rate, seconds

# How products are computed: torch's name of the float32 products, and the precision of ours.
KINDS = {"float32": ("highest", "float32"), "tf32": ("high", "float32"), "bfloat16": ("high", "bfloat16")}
# By a part of torch's name of the card, the most special first: 10^12 operations per second of dense
# products, in the order of KINDS, from the makers' data sheets. 0: not supported by the card
PEAKS = {
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


# Operations after which the program waits for the GPU.
WAITING = ("aten::_local_scalar_dense", "aten::nonzero", "aten::_unique2", "Memcpy DtoH (Device -> Pageable)")


@contextmanager
def products(kind: str) -> Iterator[str]:
    """Computes products in one of `KINDS` inside of the block; yields the precision that ours takes."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    of_float32, precision = KINDS[kind]
    torch.set_float32_matmul_precision(of_float32)
    torch.backends.cudnn.allow_tf32 = kind != "float32"
    try:
        yield precision
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]


@cache
def peaks(kind: str, device: str) -> dict[str, float]:
    """Operations per second by the card's data sheet, if its name is known, and of a large product."""
    with products(kind) as precision:
        found = {"measured_peak": matrix_product_rate(precision, device)}
    name = torch.cuda.get_device_name() if device == "cuda" else ""
    listed = next((figures for part, figures in PEAKS.items() if re.search(rf"\b{part}(?!\d)", name)), None)
    if listed is not None and (peak := listed[list(KINDS).index(kind)]):
        found["listed_peak"] = peak * 1e12
    return found


def shares(done: float, peak: dict[str, float]) -> dict[str, float]:
    """Operations per second as shares of each of `peaks`."""
    return {f"share_of_{name}": done / rate for name, rate in peak.items()}


def take_turns(works: dict[str, Callable[[], object]], rounds: int, device: str) -> dict[str, list[float]]:
    """Seconds of each work in each round; a first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            times[name].append(seconds(work, device))
    return {name: several[1:] for name, several in times.items()}


def memory_of(work: Callable[[], object], device: str) -> float | None:
    """Peak megabytes on the GPU, of the work alone and in total."""
    if device == "cpu":
        return None
    torch.cuda.reset_peak_memory_stats()
    work()
    return torch.cuda.max_memory_allocated() / 1e6


def profile(work: Callable[[], object], device: str, most: int = 12) -> dict[str, Any]:
    """
    Profiles work: the seconds that passed, without the profiler, and in which the GPU was busy; how often the
    program waited for it; and the longest operations, in milliseconds and calls.
    """
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    taken = seconds(work, device)
    with torch.profiler.profile(activities=activities) as profiler:
        work()
        finish(device)
    events = profiler.key_averages()
    where = "self_device_time_total" if device == "cuda" else "self_cpu_time_total"
    longest = sorted(events, key=lambda event: -getattr(event, where))[:most]
    waits = {e.key: e.count for e in events if "Synchronize" in e.key or e.key in WAITING}
    busy = sum(event.self_device_time_total for event in events if is_kernel(event)) / 1e6
    return {
        "seconds": taken,
        "gpu_busy_seconds": busy if device == "cuda" else None,
        "kernels": sum(event.count for event in events if is_kernel(event)),
        "waits": waits,
        "longest": [[event.key[:80], getattr(event, where) / 1e3, event.count] for event in longest],
    }


def is_kernel(event: Any) -> bool:
    return event.device_type == torch.autograd.DeviceType.CUDA
