"""
HDF5 files: read with more checks than HDF5 makes, and written so that a full disk raises an error.
"""

import io
import signal
import threading
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import h5py
import numpy as np

from elmo_plugin.common.errors import BiLmError, message_of, raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.files import reason
from elmo_plugin.common.formats.archives import AnyPath
from elmo_plugin.common.integers import ceil_div

# The largest dataset of a file, in bytes or, for larger files, as a multiple of the file's size.
# The numbers of a model are about 1.1 times as large as their file.
MAX_BYTES = 2**27
MAX_RATIO = 100
_CHECKSUM = "crc32"  # an attribute of each dataset that was written by `write_dataset`


@contextmanager
def open_hdf5(path: str | AnyPath, name: str) -> Iterator[h5py.File]:
    """
    Opens a file for reading. Raises `BiLmError`, beginning with `name`, if it is missing or
    damaged.
    """
    if isinstance(path, zipfile.Path):
        source: Any = io.BytesIO(path.read_bytes())
    elif Path(path).is_file():
        source = path
    else:
        raise BiLmError(f"{name}: file not found")
    try:
        with h5py.File(source, "r") as file:
            yield file
    except BiLmError as error:
        raise BiLmError(f"{name}: {error}") from None
    except PermissionError as error:  # h5py's other kinds of `OSError` may be due to damage
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None
    except Exception as error:  # damage can make the library raise anything
        raise_if_sigterm_or_out_of_memory(error)
        raise BiLmError(f"{name}: not a whole HDF5 file ({message_of(error)})") from None


class DeferringFile(io.FileIO):
    """
    A file in which writing never fails, because HDF5 crashes if it does. The first error is stored
    in `error`, and anything written after it is dropped.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Writes as much as possible, and returns the size of all data, as if all were written."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest and self.error is None:
                num_written = super().write(rest)
                rest = rest[num_written:]
        except OSError as error:
            self.error = error
        return size

    def truncate(self, size: int | None = None) -> int:
        """
        Changes the size of the file, by default to the position in it. Returns the new size as if
        that could not fail.
        """
        if size is None:
            size = self.tell()
        try:
            return super().truncate(size)
        except OSError as error:
            self.keep_first(error)
            return size

    def keep_first(self, error: OSError) -> None:
        """Stores an error, so that nothing more is written, unless an earlier one is stored."""
        if self.error is None:
            self.error = error


@contextmanager
def _defer_signals(target: DeferringFile) -> Iterator[None]:
    """
    Makes Ctrl-C and SIGTERM end the writing as a full disk does, instead of an exception in the
    middle of HDF5's work. At the end of the block, the first signal that came is raised again.
    """
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        """Remembers a signal, and makes the file drop all later data."""
        received.append(number)
        target.keep_first(InterruptedError("stopped by a signal"))

    previous_handlers = {}
    # Python delivers signals to the main thread alone.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            previous_handlers[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def new_hdf5(path: str | Path, **options: Any) -> Iterator[tuple[h5py.File, DeferringFile]]:
    """
    Creates an HDF5 file with these `options` of `h5py.File`. Yields it, and the `DeferringFile`
    through which HDF5 writes.

    When writing fails, or Ctrl-C or SIGTERM comes, the block goes on, and the `error` of the
    `DeferringFile` is set. Callers may look at it to stop early. It is raised at the end of the
    block.
    """
    with DeferringFile(path, "w+") as target, _defer_signals(target):
        try:
            with h5py.File(target, "w", **options) as file:
                yield file, target
        finally:
            if target.error is not None:
                raise target.error


def write_dataset(file: h5py.File, name: str, values: np.ndarray, **options: Any) -> None:
    """Writes numbers, with their checksum in an attribute."""
    dataset = file.create_dataset(name, data=values, **options)
    dataset.attrs[_CHECKSUM] = np.uint32(_checksum(values))


def _checksum(values: np.ndarray) -> int:
    """Returns the CRC-32 of the bytes of an array."""
    return zlib.crc32(np.ascontiguousarray(values).data)


def write_strings(file: h5py.File, name: str, strings: Sequence[str]) -> None:
    """
    Writes strings as UTF-8 bytes, each followed by a zero. HDF5's own type for strings is not used,
    because reading it from a damaged file may never end.
    """
    content = b"".join(string.encode() + b"\0" for string in strings)
    write_dataset(file, name, np.frombuffer(content, np.uint8))


def find_numbers(file: h5py.File, name: str) -> h5py.Dataset | None:
    """
    Returns the dataset of this name, or `None` without one. Raises `BiLmError` if its values are
    not floating-point numbers, if some of them are not in this file (HDF5 would read zeros), or if
    it is far larger than the file.
    """
    dataset = _find_dataset(file, name)
    if dataset is not None and dataset.dtype.kind != "f":
        raise BiLmError(f"the dataset {name}: expected floating-point numbers, got {dataset.dtype}")
    return dataset


def find_strings(file: h5py.File, name: str) -> h5py.Dataset | None:
    """
    Returns the dataset that `write_strings` wrote under this name, or `None` without one. Raises
    `BiLmError` if the dataset holds something else.
    """
    dataset = _find_dataset(file, name)
    # `write_strings` stores all strings in one array of bytes.
    if dataset is not None and (dataset.ndim != 1 or dataset.dtype != np.uint8):
        raise BiLmError(
            f"the dataset {name} is not a list of strings, but {dataset.dtype} of shape "
            f"{dataset.shape}"
        )
    return dataset


def read_numbers(dataset: h5py.Dataset) -> np.ndarray:
    """Reads a dataset. Raises `BiLmError` if it has a checksum and does not match it."""
    values = dataset[()]
    written = dataset.attrs.get(_CHECKSUM)
    if written is not None and written != _checksum(values):
        raise BiLmError(f"the dataset {dataset.name} is damaged: wrong checksum")
    return values


def read_strings(dataset: h5py.Dataset) -> list[str]:
    """Reads what `write_strings` wrote. Raises `BiLmError` if it is damaged."""
    text = read_numbers(dataset).tobytes().decode("utf-8")
    # Each string ends with a zero, so nothing may follow the last zero.
    *strings, after_last = text.split("\0")
    if after_last:
        raise BiLmError(f"the dataset {dataset.name} is cut")
    return strings


def _find_dataset(file: h5py.File, name: str) -> h5py.Dataset | None:
    """
    Returns the dataset of this name, or `None` without one. Raises `BiLmError` if it is in another
    file, incomplete or far too large.
    """
    dataset = file.get(name)
    if not isinstance(dataset, h5py.Dataset):
        return None
    if dataset.is_virtual or dataset.external or dataset.file.filename != file.filename:
        raise BiLmError(f"the dataset {name} is in another file")
    if dataset.nbytes > max(MAX_BYTES, MAX_RATIO * file.id.get_filesize()):
        size = f"{dataset.nbytes / 1e9:.1f} GB"
        raise BiLmError(
            f"the dataset {name} has a suspicious compression ratio ({size} uncompressed)"
        )
    if dataset.size > 0 and not _is_complete(dataset):
        raise BiLmError(f"the dataset {name} was not written completely")
    return dataset


def _is_complete(dataset: h5py.Dataset) -> bool:
    """Returns whether all numbers of a dataset were written. HDF5 reads zeros for missing ones."""
    if dataset.chunks is None:  # the numbers are in one piece
        return dataset.id.get_storage_size() >= dataset.nbytes
    num_chunks = 1
    for size, chunk_size in zip(dataset.shape, dataset.chunks, strict=True):
        num_chunks *= ceil_div(size, chunk_size)
    return dataset.id.get_num_chunks() == num_chunks
