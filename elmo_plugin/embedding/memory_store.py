"""Sentences in the memory of one process."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from elmo_plugin.common.process import ForkSafeLock

RECORD_OVERHEAD = 300  # bytes that a record takes without its vectors, about


class MemoryStore:
    """
    Holds the vectors of sentences, in at most `max_bytes`; removes the least recently used record
    first. Copies and unpickled stores start empty.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        # By the key of a sentence, the least recently used first.
        self._records: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._used_bytes = 0  # by all records
        self._lock = ForkSafeLock()  # for the records and their bytes

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        """
        Copies the stored vectors of each key into its row, and marks them as just used. Returns the
        numbers of the rows whose keys are not stored.
        """
        missing = []
        with self._lock:
            for number, (key, row) in enumerate(zip(keys, rows, strict=True)):
                if key in self._records:
                    row[...] = self._records[key]
                    self._records.move_to_end(key)
                else:
                    missing.append(number)
        return missing

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        """
        Stores a copy of each row, unless the row is larger than the whole store. If the store is
        full, it removes the least recently used records.
        """
        for key, row in zip(keys, rows, strict=True):
            size = row.nbytes + RECORD_OVERHEAD
            if size > self.max_bytes:
                continue
            with self._lock:
                if key in self._records:
                    continue  # the batch has the sentence twice, or another thread has stored it
                while self._used_bytes + size > self.max_bytes:
                    _, oldest = self._records.popitem(last=False)
                    self._used_bytes -= oldest.nbytes + RECORD_OVERHEAD
                self._records[key] = row.copy()
                self._used_bytes += size

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_bytes,)
