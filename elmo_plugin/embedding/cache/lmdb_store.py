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
from filelock import FileLock

from elmo_plugin.embedding.cache.lmdb_check import find_damage
from elmo_plugin.embedding.cache.records import read_record, to_record

NAME = "activations.mdb"
MAP_SIZE = 1 << 40  # of addresses, not of memory or disk; the same for all processes
MAX_READERS = 1024
VERSION = b"2"  # of what is in the records
_VERSION_KEY = b"version"

logger = logging.getLogger(__name__)

# LMDB may not open a file twice in a process: those who name the same folder get the same store.
_stores: WeakValueDictionary[Path, "LmdbStore"] = WeakValueDictionary()


def lmdb_store(folder: Path, max_bytes: int) -> "LmdbStore":
    """Returns the one of this folder in this process. The largest `max_bytes` counts."""
    store = _stores.setdefault(folder, LmdbStore(folder, max_bytes))
    store.max_bytes = max(store.max_bytes, max_bytes)
    return store


class LmdbStore:
    """
    A `Store` that is opened when it is first used. Where reading or writing fails, it stops doing so, with
    one warning. A file of `max_bytes` takes in nothing more. Copies of it are it.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._opened: _OpenFile | None = None
        self._opening = threading.Lock()
        self._is_full = self._is_off = self._is_damaged = False

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        try:
            if not self._is_off:
                missing, has_damage = _missing(self._open(), keys, rows)
                if has_damage and not self._is_damaged:
                    self._is_damaged = True
                    self._warn("has damaged records, whose sentences are computed again")
                return missing
        except (OSError, lmdb.Error) as error:
            self._is_off = True
            self._warn(f"cannot be read ({error}), so every sentence is computed")
        return list(range(len(keys)))

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        if self._is_off or self._is_full:
            return
        records = {key: to_record(key, row) for key, row in zip(keys, rows, strict=True)}
        try:
            environment = self._open()
            self._is_full = _size(environment) + sum(map(len, records.values())) > self.max_bytes
            if self._is_full:
                self._warn(f"has max_gb ({self.max_bytes / 1e9:g}), so it takes in no more sentences")
                return
            with environment.begin(write=True) as transaction:
                transaction.cursor().putmulti(records.items())
        except (OSError, lmdb.Error) as error:
            self._is_full = True
            self._warn(f"cannot be written ({error}), so it takes in no more sentences")

    def close(self) -> None:
        """Closes the file until it is used again."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _open(self) -> lmdb.Environment:
        with self._opening:
            if self._opened is None:
                self._opened = _open_or_begin_anew(self.folder)
            self._opened.check_size()
            return self._opened.environment

    def _warn(self, what: str) -> None:
        logger.warning("the cache %s %s", self.folder, what)

    def __reduce__(self) -> tuple[Any, ...]:
        return lmdb_store, (self.folder, self.max_bytes)


class _OpenFile:
    """
    An open file, which must not become shorter while it is in memory: reading what is gone ends the process.
    """

    def __init__(self, environment: lmdb.Environment, descriptor: int) -> None:
        self.environment = environment
        self._descriptor = descriptor
        self._size = 0

    def check_size(self) -> None:
        """Raises `lmdb.CorruptedError` where somebody has cut the file. It never becomes shorter in use."""
        if os.fstat(self._descriptor).st_size >= self._size:  # so the first pages can be looked at
            in_use = _size(self.environment)
            self._size = os.fstat(self._descriptor).st_size  # only now: others may have made it longer
            if self._size >= in_use:
                return
        raise lmdb.CorruptedError("somebody has cut it while it was open")

    def close(self) -> None:
        self.environment.close()
        os.close(self._descriptor)


def _missing(
    environment: lmdb.Environment, keys: Sequence[bytes], rows: Sequence[np.ndarray]
) -> tuple[list[int], bool]:
    """
    Copies the records into the rows, straight from the file in memory. Returns which are not there, and
    whether one of them is damaged.
    """
    missing, has_damage = [], False
    with environment.begin(buffers=True) as transaction:
        for number, (key, row) in enumerate(zip(keys, rows, strict=True)):
            record = transaction.get(key)
            if record is None or not read_record(key, record, row):
                missing.append(number)
                has_damage |= record is not None
    return missing, has_damage


def _open_or_begin_anew(folder: Path) -> _OpenFile:
    """
    Opens the file in a folder. One that is damaged, or of an earlier version, is replaced, which a warning
    says; processes that have it open keep the old one. Raises `OSError` or `lmdb.Error` where it cannot be
    opened.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / NAME
    with FileLock(str(folder / "opening.lock")):
        try:
            return _open_file(file)
        except _EarlierVersion:
            logger.warning("the cache %s is of an earlier version: it is begun anew, empty", folder)
        except (lmdb.InvalidError, lmdb.CorruptedError) as error:
            logger.warning("the cache %s is damaged (%s): it is begun anew, empty", folder, error)
        for path in (file, folder / f"{NAME}-lock"):
            path.unlink(missing_ok=True)
        return _open_file(file)


class _EarlierVersion(Exception):
    pass


def _open_file(file: Path) -> _OpenFile:
    """
    Opens or makes a file, which neither the end of a process nor a power failure damages: LMDB writes the
    pages of a transaction to the disk before it refers to them (`sync`), though a power failure may undo the
    last transaction (not `metasync`). This costs milliseconds for a batch that is new. Raises
    `lmdb.InvalidError` or `lmdb.CorruptedError` where the file was damaged in another way, and
    `_EarlierVersion`.
    """
    if file.exists():
        if file.stat().st_size == 0:
            raise lmdb.InvalidError("it is empty")
        if (damage := find_damage(file)) is not None:
            raise lmdb.CorruptedError(damage)
    environment = lmdb.open(
        str(file), map_size=MAP_SIZE, subdir=False, metasync=False, max_readers=MAX_READERS
    )
    opened = _OpenFile(environment, os.open(file, os.O_RDONLY))
    try:
        opened.check_size()
        environment.reader_check()  # frees the places of readers that were killed
        with environment.begin() as transaction:
            version = transaction.get(_VERSION_KEY)
        if version != VERSION:
            if environment.stat()["entries"] > 0:
                raise _EarlierVersion
            with environment.begin(write=True) as transaction:
                transaction.put(_VERSION_KEY, VERSION)
    except BaseException:
        opened.close()
        raise
    return opened


def _size(environment: lmdb.Environment) -> int:
    """Returns the bytes of the file that are in use."""
    return (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]


def _close_inherited() -> None:
    """LMDB may not use an open file after a fork: the new process opens it again."""
    for store in list(_stores.values()):
        store.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)
