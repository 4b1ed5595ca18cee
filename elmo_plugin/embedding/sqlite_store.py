"""Sentences in an SQLite file that several processes read and write."""

import logging
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

NAME = "activations.sqlite"
# The file's `user_version`. Files of version 1 could have the vectors of other words.
FORMAT = 2
PAGE_SIZE = 16384  # bytes; larger pages waste space, smaller ones scatter a sentence over many
CHECKSUM_SIZE = 4
BUSY_SECONDS = 60.0  # how long it waits while other processes write

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

# No thread may be inside SQLite while the process forks, and the child must neither use nor close a
# connection of its parent.
_in_use = threading.Lock()
_of_parents: list[sqlite3.Connection] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_in_use.acquire, after_in_parent=_in_use.release, after_in_child=_in_use.release
    )


class SqliteStore:
    """
    Reads and writes like a `MemoryStore`, in a file that it opens on first use. If reading or
    writing fails, it stops doing so with one warning. A damaged file is replaced by an empty one, a
    damaged record counts as missing. Copies of a store use the same file.

    The first eight bytes of a key are the record's id; its checksum covers the whole key.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._process = self._inode = 0  # what opened the file, and which file it is
        self._is_full = self._is_off = False

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        def read_all(connection: sqlite3.Connection) -> list[int]:
            missing = []
            for number, (key, row) in enumerate(zip(keys, rows, strict=True)):
                if not self._read_one(connection, key, row):
                    missing.append(number)
            return missing

        try:
            if not self._is_off:
                return self._run("BEGIN", read_all)
        except (OSError, sqlite3.Error) as error:
            self._is_off = True
            self._warn(f"cannot be read ({error}), so every sentence is computed")
        return list(range(len(keys)))

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        if self._is_off or self._is_full:
            return
        records = [(_row_id(key), to_record(key, row)) for key, row in zip(keys, rows, strict=True)]

        def write_all(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO records VALUES (?, ?)", records)

        try:
            self._run("BEGIN IMMEDIATE", write_all)
        except (OSError, sqlite3.Error) as error:
            self._is_full = True
            reason = f"{error}; max_gb is {self.max_bytes / 1e9:g}"
            self._warn(f"cannot be written ({reason}), so no more sentences are added")

    def _read_one(self, connection: sqlite3.Connection, key: bytes, row: np.ndarray) -> bool:
        """Copies a record into a row. Returns false if it is missing or damaged."""
        query = "SELECT CAST(content AS BLOB) FROM records WHERE id = ?"
        found = connection.execute(query, (_row_id(key),)).fetchone()
        return found is not None and read_record(key, found[0] or b"", row)

    def _run(self, begin: str, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """
        Returns what `work` returns in a transaction. Replaces a damaged file, and runs it again.
        """

        def run() -> Result:
            if self._connection is not None and self._process != os.getpid():
                _of_parents.append(self._connection)
                self._connection = None
            if self._connection is None:
                self._connection = self._connect()
                self._process = os.getpid()
            with self._connection as connection:  # commits, or rolls back
                connection.execute(begin)
                return work(connection)

        with _in_use:
            try:
                return run()
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:  # only damage raises this very class
                    raise
                if self._connection is not None:
                    self._connection.close()  # Windows deletes no open file
                    self._connection = None
                file = self.folder / NAME
                is_ours = file.exists() and file.stat().st_ino == self._inode
                if is_ours:  # no other process has replaced it
                    self._warn(f"is damaged ({error}): it is replaced by an empty one")
                    for path in (file, self.folder / f"{NAME}-journal"):
                        path.unlink(missing_ok=True)
                return run()

    def _connect(self) -> sqlite3.Connection:
        """
        Opens or creates the file. SQLite's journal protects it against kills and power failures.
        Raises `sqlite3.DatabaseError` itself if it is damaged, and `sqlite3.OperationalError` if it
        cannot be used.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / NAME
        file.touch()
        self._inode = file.stat().st_ino
        connection = sqlite3.connect(
            file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            connection.execute("PRAGMA journal_mode = TRUNCATE")
            connection.execute(f"PRAGMA max_page_count = {max(self.max_bytes // PAGE_SIZE, 1)}")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """
        Makes the table of a new file, and empties a file of an earlier format. Raises
        `sqlite3.OperationalError` if the format is a later one.
        """
        if _format_of(connection) == FORMAT:
            return
        connection.execute("BEGIN IMMEDIATE")
        version = _format_of(connection)  # another process may have prepared it meanwhile
        if version > FORMAT:
            raise sqlite3.OperationalError(f"its format is {version}, not {FORMAT}")
        if version < FORMAT:
            if version > 0:
                self._warn(
                    f"has the format {version}, in which a word could get another word's vectors: "
                    "it is emptied"
                )
            connection.execute("DROP TABLE IF EXISTS records")
            connection.execute("CREATE TABLE records (id INTEGER PRIMARY KEY, content BLOB)")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder, self.max_bytes)

    def _warn(self, what: str) -> None:
        logger.warning("the cache %s %s", self.folder, what)


def _format_of(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version


def _row_id(key: bytes) -> int:
    return int.from_bytes(key[:8], "little", signed=True)


def to_record(key: bytes, vectors: np.ndarray) -> bytes:
    """Returns the record of a sentence's vectors, of any shape."""
    content = vectors.tobytes()
    return _checksum(key, content) + content


def read_record(key: bytes, record: bytes | memoryview, vectors: np.ndarray) -> bool:
    """
    Copies a record into `vectors`; returns false if it is damaged, or of another key, shape or
    type.
    """
    content = memoryview(record)[CHECKSUM_SIZE:]
    if len(content) != vectors.nbytes or bytes(record[:CHECKSUM_SIZE]) != _checksum(key, content):
        return False
    vectors[...] = np.frombuffer(content, vectors.dtype).reshape(vectors.shape)
    return True


def _checksum(key: bytes, content: bytes | memoryview) -> bytes:
    return zlib.crc32(content, zlib.crc32(key)).to_bytes(CHECKSUM_SIZE, "little")
