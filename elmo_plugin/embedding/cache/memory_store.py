"""The least recently used sentences make room for new ones, in memory."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from elmo_plugin.common.process import ForkSafeLock

OVERHEAD = 300  # bytes of a record besides its vectors, about


class MemoryStore:
    """
    A `Store` of at most `max_bytes`, which removes the least recently used record first. Copies and unpickled
    stores start empty.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._bytes = 0
        self._records: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._lock = ForkSafeLock()

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        missing = []
        with self._lock:
            for number, (key, row) in enumerate(zip(keys, rows, strict=True)):
                if key in self._records:
                    self._records.move_to_end(key)
                    row[...] = self._records[key]
                else:
                    missing.append(number)
        return missing

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        for key, row in zip(keys, rows, strict=True):
            size = row.nbytes + OVERHEAD
            with self._lock:
                if key in self._records or size > self.max_bytes:
                    continue
                while self._bytes + size > self.max_bytes:
                    _, oldest = self._records.popitem(last=False)
                    self._bytes -= oldest.nbytes + OVERHEAD
                self._records[key] = row.copy()
                self._bytes += size

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_bytes,)
