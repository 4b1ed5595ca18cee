"""Sentences in an SQLite file that several processes read and write."""

import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from elmo_plugin.common.logs import get_logger

NAME = "activations.sqlite"
# The file's `user_version`. In files of version 1 a word could have the vectors of another word.
FORMAT = 2
PAGE_SIZE = 16384  # bytes; larger pages waste space, smaller ones scatter a sentence over many
CHECKSUM_SIZE = 4
_TABLE = "CREATE TABLE records (id INTEGER PRIMARY KEY, content BLOB)"
# Steps of SQLite's machine. A file of ours takes far fewer; a crafted file could take hours.
_MAX_STEPS_TO_OPEN = 1_000_000
_MAX_RECORD = 2**28  # bytes, of a sentence of 20,000 words
BUSY_SECONDS = 60.0  # how long it waits while other processes write

logger = get_logger(__name__)
Result = TypeVar("Result")

# No thread may be inside SQLite while the process forks. The child must neither use nor close a
# connection of its parent: SQLite warns that either can damage the file.
_sqlite_lock = threading.Lock()
_connections_of_parents: list[sqlite3.Connection] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_sqlite_lock.acquire,
        after_in_parent=_sqlite_lock.release,
        after_in_child=_sqlite_lock.release,
    )


class SqliteStore:
    """
    Reads and writes like a `MemoryStore`, in a file that it opens on first use. If writing fails,
    it warns once and only reads from then on. If reading fails, it warns once and does nothing
    more. A damaged file is replaced by an empty one, and a damaged record counts as missing. Copies
    of a store use the same file.

    The first eight bytes of a key are the id of its record. If two keys share these bytes, the
    checksum of the record tells them apart, because it covers the whole key.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._process = 0  # the process that opened the connection
        self._inode: int | None = None  # the inode of the file that it opened
        self._is_read_only = False  # true after writing has failed
        self._is_off = False  # true after reading has failed

    @property
    def _file(self) -> Path:
        return self.folder / NAME

    def read(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
        """
        Copies the stored vectors of each key into its row. Returns the numbers of the rows whose
        keys are not stored; all of them if the file cannot be read.
        """

        def read_all(connection: sqlite3.Connection) -> list[int]:
            missing = []
            for number, (key, row) in enumerate(zip(keys, rows, strict=True)):
                if not self._read_one(connection, key, row):
                    missing.append(number)
            return missing

        all_rows = list(range(len(keys)))
        if self._is_off:
            return all_rows
        try:
            return self._in_transaction("BEGIN", read_all)
        except (OSError, sqlite3.Error) as error:
            self._is_off = True
            self._warn(f"cannot be read ({error}), so every sentence is computed")
            return all_rows

    def write(self, keys: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        """
        Stores the rows. Does nothing after reading or writing has failed, for example because the
        file was full.
        """
        if self._is_off or self._is_read_only:
            return
        records = []
        for key, row in zip(keys, rows, strict=True):
            records.append((_row_id(key), to_record(key, row)))

        def write_all(connection: sqlite3.Connection) -> None:
            # Replaces damaged records, and those that another process has just written.
            connection.executemany("INSERT OR REPLACE INTO records VALUES (?, ?)", records)

        try:
            self._in_transaction("BEGIN IMMEDIATE", write_all)  # waits for other writers
        except (OSError, sqlite3.Error) as error:
            self._is_read_only = True
            # The error may be that the file has reached its largest size.
            reason = f"{error}; max_gb is {self.max_bytes / 1e9:g}"
            self._warn(f"cannot be written ({reason}), so no more sentences are added")

    def _read_one(self, connection: sqlite3.Connection, key: bytes, row: np.ndarray) -> bool:
        """Copies a record into a row. Returns false if the record is missing or damaged."""
        # In a damaged file the content may also be text or a number. The cast makes bytes of them.
        query = "SELECT CAST(content AS BLOB) FROM records WHERE id = ?"
        result = connection.execute(query, (_row_id(key),)).fetchone()
        if result is None:
            return False
        (record,) = result
        if record is None:  # damaged, because NULL is never written
            return False
        return read_record(key, record, row)

    def _in_transaction(self, begin: str, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """
        Calls `work` in a transaction that the statement `begin` starts, and returns its result.
        If the file is damaged, it is replaced by an empty one, in which `work` is called again.
        """
        with _sqlite_lock:
            try:
                return self._try_transaction(begin, work)
            except sqlite3.DatabaseError as error:
                # For a damaged file, SQLite raises `DatabaseError` itself. All other errors, such
                # as for a locked file, are of its subclasses.
                is_damage = type(error) is sqlite3.DatabaseError
                if not is_damage:
                    raise
                self._remove_damaged_file(error)
                return self._try_transaction(begin, work)

    def _try_transaction(self, begin: str, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """
        Opens the file unless this process has opened it already, calls `work` in a transaction, and
        returns its result.
        """
        if self._connection is not None and self._process != os.getpid():
            # This process was forked, and must not use its parent's connection. The list keeps the
            # connection, because Python closes one that nothing refers to.
            _connections_of_parents.append(self._connection)
            self._connection = None
        if self._connection is not None and _inode_of(self._file) != self._inode:
            # Another process has found damage in the file, and replaced it.
            self._connection.close()
            self._connection = None
        if self._connection is None:
            self._connection = self._connect()
            self._process = os.getpid()
        with self._connection as connection:  # commits, or rolls back
            connection.execute(begin)
            return work(connection)

    def _remove_damaged_file(self, error: sqlite3.DatabaseError) -> None:
        """
        Closes the file, and removes it, unless another process has replaced it by a new one
        already.
        """
        if self._connection is not None:
            self._connection.close()  # Windows does not delete a file that is open
            self._connection = None
        if _inode_of(self._file) == self._inode:
            self._warn(f"is damaged ({error}): it is replaced by an empty one")
            journal = self.folder / f"{NAME}-journal"  # SQLite would apply it to the new file
            for path in (self._file, journal):
                path.unlink(missing_ok=True)

    def _connect(self) -> sqlite3.Connection:
        """
        Opens or creates the file. SQLite's journal protects it against kills and power failures.
        Raises `sqlite3.OperationalError` if it cannot be used, and `sqlite3.DatabaseError`, not one
        of its subclasses, if it is damaged.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file.touch()  # so that it has an inode before SQLite opens it
        self._inode = _inode_of(self._file)
        connection = sqlite3.connect(
            self._file,
            timeout=BUSY_SECONDS,
            isolation_level=None,  # transactions begin only where we begin them
            check_same_thread=False,  # a lock keeps threads apart
        )
        try:
            # A crafted file must not keep SQLite busy while it is opened. The limit ends with the
            # opening, because reading and writing may take long.
            connection.set_progress_handler(_stop, _MAX_STEPS_TO_OPEN)
            # Nor may a record of a crafted file fill the memory.
            if hasattr(connection, "setlimit"):  # since Python 3.11
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_RECORD)
            connection.execute("PRAGMA trusted_schema = OFF")  # no code of the file is run
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            connection.execute("PRAGMA journal_mode = TRUNCATE")  # faster than deleting the journal
            max_pages = max(self.max_bytes // PAGE_SIZE, 1)
            connection.execute(f"PRAGMA max_page_count = {max_pages}")
            self._prepare(connection)
            connection.set_progress_handler(None, 0)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """
        Creates the table of a new file, and empties a file of an earlier format. Raises
        `sqlite3.OperationalError` if the file has a later format, or anything but the table.
        """
        if _format_of(connection) < FORMAT:
            # If an error is raised before the commit, the caller closes the file, and nothing is
            # changed.
            connection.execute("BEGIN IMMEDIATE")
            self._create_table(connection)
            connection.execute("COMMIT")
        version = _format_of(connection)
        if version > FORMAT:
            raise sqlite3.OperationalError(f"its format is {version}, not {FORMAT}")
        _check_schema(connection, [_TABLE])

    def _create_table(self, connection: sqlite3.Connection) -> None:
        """Creates the table in a new file, or replaces the table of an earlier format."""
        version = _format_of(connection)
        if version >= FORMAT:
            return  # another process has created the table meanwhile
        is_earlier_format = version > 0  # not a new file
        if is_earlier_format:
            connection.execute("DROP TABLE IF EXISTS records")
        _check_schema(connection, [])
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        if is_earlier_format:
            self._warn(
                f"has the format {version}, in which a word could get another word's vectors: "
                "it is emptied"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder, self.max_bytes)

    def _warn(self, what: str) -> None:
        """Logs a warning about this cache."""
        logger.warning("the cache %s %s", self.folder, what)


def _inode_of(file: Path) -> int | None:
    """Returns the inode of a file; `None` if another process has removed the file."""
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return None


def _format_of(connection: sqlite3.Connection) -> int:
    """Returns the format of the file; 0 if it is new."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version


def _check_schema(connection: sqlite3.Connection, expected: Sequence[str]) -> None:
    """
    Raises `sqlite3.OperationalError` if a file has anything but the expected tables, at most one. A
    view or a trigger, for example, would run code of the file.
    """
    # The file may have millions of entries, but two show that there are too many.
    entries = connection.execute("SELECT sql FROM sqlite_master LIMIT 2").fetchall()
    if [sql for (sql,) in entries] != list(expected):
        raise sqlite3.OperationalError("it is not a file of this cache")


def _stop() -> int:
    """Tells SQLite to end a statement."""
    return 1


def _row_id(key: bytes) -> int:
    """Returns the id of a key's record: a number from -2^63 to 2^63 - 1, as SQLite has them."""
    return int.from_bytes(key[:8], "little", signed=True)


def to_record(key: bytes, vectors: np.ndarray) -> bytes:
    """Returns the record of a sentence's vectors, of any shape: a checksum, then the vectors."""
    content = vectors.tobytes()
    return _checksum(key, content) + content


def read_record(key: bytes, record: bytes, vectors: np.ndarray) -> bool:
    """
    Copies the vectors of a record into `vectors`. Returns false if the record is damaged, or
    belongs to another key, or has vectors of another size.
    """
    checksum = record[:CHECKSUM_SIZE]
    content = memoryview(record)[CHECKSUM_SIZE:]  # not a copy
    if len(content) != vectors.nbytes:
        return False
    if checksum != _checksum(key, content):
        return False
    vectors[...] = np.frombuffer(content, vectors.dtype).reshape(vectors.shape)
    return True


def _checksum(key: bytes, content: bytes | memoryview) -> bytes:
    """Returns the checksum of a record: of its key, followed by the content."""
    checksum_of_key = zlib.crc32(key)
    checksum = zlib.crc32(content, checksum_of_key)  # continues with the content
    return checksum.to_bytes(CHECKSUM_SIZE, "little")
