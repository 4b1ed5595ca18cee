"""A metric that counts in two processes at once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from allennlp.training.metrics import Metric
from torch import distributed, multiprocessing


def figures_in_two_processes(
    metric: type[Metric], batches: Sequence[tuple[Any, ...]], folder: Path
) -> list[list[dict[str, float]]]:
    """
    Gives every other batch to each of two processes. Returns for each of them the figures, the figures with a
    reset, and those after it.
    """
    method = "spawn" if torch.cuda.is_available() else "fork"  # a copy of a process cannot use its GPU
    arguments = (metric, batches, str(folder))
    multiprocessing.start_processes(_count, arguments, nprocs=2, start_method=method)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


def _count(rank: int, metric_type: type[Metric], batches: Sequence[tuple[Any, ...]], folder: str) -> None:
    distributed.init_process_group("gloo", f"file://{folder}/store", world_size=2, rank=rank)
    metric = metric_type()
    for batch in batches[rank::2]:
        metric(*batch)
    figures = [metric.get_metric(), metric.get_metric(reset=True), metric.get_metric()]
    torch.save(figures, f"{folder}/{rank}.pt")
    distributed.destroy_process_group()
