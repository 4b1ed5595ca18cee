"""The batches of one epoch, made in this process or in several others."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TensorDict
from torch.utils import data

from elmo_plugin.language_model.batches.windows import batch_arrays


@dataclass(frozen=True)
class EpochBatches(data.IterableDataset):
    """
    Batches as numpy arrays; in a worker of torch's data loader, those whose turn it is. A
    `ConfigurationError` is given in place of a batch, because torch would change its message.

    windows: gives, for each batch, the window of both directions, and whether streams start with it
    """

    windows: Callable[[], Iterable[tuple]]

    def __iter__(self) -> Iterator[dict[str, Any] | ConfigurationError]:
        worker = data.get_worker_info()
        turn = (worker.id, None, worker.num_workers) if worker else (None,)
        try:
            for forward, backward, stream_starts, *_ in islice(self.windows(), *turn):
                yield {**batch_arrays(forward, backward), "stream_starts": stream_starts}
        except ConfigurationError as error:
            yield error


def in_workers(batches: EpochBatches, num_workers: int) -> Iterator[TensorDict]:
    """Yields the batches as tensors, in the same order, made in `num_workers` processes; 0 for this one."""
    loader = data.DataLoader(
        batches,
        batch_size=None,
        num_workers=num_workers,
        collate_fn=_unchanged,
        generator=torch.Generator(),  # without one of its own, it would draw from the global random state
    )
    for batch in loader:
        if isinstance(batch, ConfigurationError):
            raise batch
        yield {
            name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
            for name, value in batch.items()
        }


def _unchanged(batch: Any) -> Any:
    """Leaves the arrays as they are: they come through a pipe, while each tensor would keep a file open."""
    return batch
