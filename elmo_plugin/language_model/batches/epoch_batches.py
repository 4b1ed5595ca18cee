"""The batches of one pass over a text, made in this process or in several others."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TensorDict
from torch.utils import data

from elmo_plugin.language_model.batches.blocks import evaluation_windows
from elmo_plugin.language_model.batches.streams import stream_windows
from elmo_plugin.language_model.batches.windows import Rows, Text, Window, batch_arrays


@dataclass(frozen=True)
class BatchesOfPass(data.IterableDataset):
    """
    The batches of one pass as numpy arrays: in a worker of torch's data loader, that worker's share of them.
    A `ConfigurationError` is given in place of a batch, because torch would change its message.

    # Parameters

    text : `Text`
    rows : `Rows`
    unroll_steps, shuffle, seed, block_words
        As for `bilm_stream`.
    number : `int`
        The number of the pass.
    first : `int`
        The number of its first batch that is wanted.
    """

    text: Text
    rows: Rows
    unroll_steps: int
    shuffle: bool
    seed: int
    block_words: int
    number: int
    first: int

    def __iter__(self) -> Iterator[dict[str, Any] | ConfigurationError]:
        worker = data.get_worker_info()
        share = (worker.id, None, worker.num_workers) if worker else (None,)
        windows = self._streams() if self.shuffle else self._blocks()
        try:
            for forward, backward, stream_starts in islice(windows, *share):
                yield {**batch_arrays(forward, backward), "stream_starts": stream_starts}
        except ConfigurationError as error:
            yield error

    def _streams(self) -> Iterator[tuple[Window, Window, bool]]:
        nothing = np.zeros((self.rows.batch_size, self.unroll_steps), dtype=np.int32)
        run_out = Window(nothing, nothing, self.text.no_words())
        windows = zip_longest(self._stream(False), self._stream(True), fillvalue=run_out)
        return ((*directions, number == 0) for number, directions in enumerate(windows, start=self.first))

    def _stream(self, reverse: bool) -> Iterator[Window]:
        return stream_windows(
            self.text, self.rows, self.unroll_steps, self.seed, self.number, reverse, self.first
        )

    def _blocks(self) -> Iterator[tuple[Window, Window, bool]]:
        windows = evaluation_windows(self.text, self.rows, self.unroll_steps, self.block_words)
        return (
            (window.forward, window.backward, window.stream_starts)
            for window in islice(windows, self.first, None)
        )


def in_workers(batches: BatchesOfPass, num_workers: int) -> Iterator[TensorDict]:
    """The same batches as tensors, in the same order, made in so many processes; 0 for this one."""
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
