"""Sentences in an LMDB file, which many processes read and write."""

import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import lmdb
import numpy as np

from elmo_plugin.embedding.cache.lmdb_file import open_file
from elmo_plugin.embedding.cache.records import read_record, to_record

logger = logging.getLogger(__name__)

_stores: WeakValueDictionary[Path, "LmdbStore"] = WeakValueDictionary()
_lock = threading.RLock()  # held by who uses a file: LMDB's may not be open where a process forks


def lmdb_store(folder: Path, max_bytes: int) -> "LmdbStore":
    """The one of this folder in this process, for LMDB opens a file once. The largest `max_bytes` counts."""
    with _lock:
        store = _stores.setdefault(folder, LmdbStore(folder, max_bytes))
        store.max_bytes = max(store.max_bytes, max_bytes)
        return store


class LmdbStore:
    """
    A `Store` that is opened when it is first used. Where reading or writing fails, it stops doing so, with
    one warning. Copies of it are it.

    # Parameters

    folder : `Path`
        Where the file is.
    max_bytes : `int`
        A file of this size takes in nothing more.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._environment: lmdb.Environment | None = None
        self._is_checked = self._is_full = self._is_off = False

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        with _lock:
            try:
                if not self._is_off:
                    return _missing(self._open(), keys, rows)
            except (OSError, lmdb.Error) as error:
                self._is_off = True
                self._warn(f"cannot be read ({error}), so every sentence is computed")
        return list(range(len(keys)))

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        if self._is_off or self._is_full:
            return
        records = {key: to_record(key, row) for key, row in zip(keys, rows, strict=True)}
        with _lock:
            try:
                environment = self._open()
                self._is_full = _size(environment) + sum(map(len, records.values())) > self.max_bytes
                if self._is_full:
                    self._warn(f"has max_gb ({self.max_bytes / 1e9:g}), so it takes in no more sentences")
                else:
                    _put(environment, records)
            except (OSError, lmdb.Error) as error:
                self._is_full = True
                self._warn(f"cannot be written ({error}), so it takes in no more sentences")

    def close(self) -> None:
        """Until it is used again."""
        if self._environment is not None:
            self._environment.close()
            self._environment = None

    def _open(self) -> lmdb.Environment:
        if self._environment is None:
            self._environment = open_file(self.folder, check=not self._is_checked)
            self._is_checked = True
        return self._environment

    def _warn(self, what: str) -> None:
        logger.warning("the cache %s %s", self.folder, what)

    def __reduce__(self) -> tuple[Any, ...]:
        return lmdb_store, (self.folder, self.max_bytes)


def _missing(environment: lmdb.Environment, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
    """Copies the records into the rows, straight from the file in memory. Returns which are not there."""
    missing = []
    with environment.begin(buffers=True) as transaction:
        for number, (key, row) in enumerate(zip(keys, rows, strict=True)):
            record = transaction.get(key)
            if record is None or not read_record(key, record, row):
                missing.append(number)
    return missing


def _put(environment: lmdb.Environment, records: dict[bytes, bytes]) -> None:
    with environment.begin(write=True) as transaction:
        for key, record in records.items():
            transaction.put(key, record)


def _size(environment: lmdb.Environment) -> int:
    """The bytes of the file that are in use."""
    return (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]


def _close_all() -> None:
    _lock.acquire()
    for store in list(_stores.values()):
        store.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_all, after_in_parent=_lock.release, after_in_child=_lock.release)
