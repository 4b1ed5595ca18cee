"""HDF5 files: read with more checks than HDF5 makes, and written so that a full disk raises an error."""

import io
import math
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import h5py
import numpy as np

from elmo_plugin.common.errors import BiLmError, raise_stop
from elmo_plugin.common.files import checksum, reason

MAX_BYTES = 2**27  # that a dataset of a small file may take
MAX_RATIO = 100  # of a dataset's size to that of a larger file; numbers of a model have about 1.1
_PAGE = 2**16
_CHECKSUM = "crc32"  # an attribute of each dataset that was written by `write_dataset`


@contextmanager
def open_hdf5(path: str | Path, name: str) -> Iterator[h5py.File]:
    """
    Opens a file for reading. Raises `BiLmError`, which calls the file `name`, if it is missing, or if what
    the block reads from it is damaged.
    """
    if not Path(path).is_file():
        raise BiLmError(f"{name}: there is no such file")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except BiLmError as error:
        raise BiLmError(f"{name}: {error}") from None
    except PermissionError as error:
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None
    except Exception as error:  # damage can make the library raise anything
        raise_stop(error)
        raise BiLmError(f"{name}: not a whole HDF5 file ({error or type(error).__name__})") from None


class DeferringFile(io.FileIO):
    """
    A file on which writing never fails: the first error is stored in `error`, and what is written from then
    on is kept in memory, where it can be read. HDF5 crashes with a segmentation fault when it cannot write,
    as on a full disk, and when it then reads something other than it wrote.
    """

    error: OSError | None = None

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, "w+")
        self._pages: dict[int, bytearray] = {}  # that could not be written, by their numbers
        self._end = 0  # of what could not be written

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest and self.error is None:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.error = error
        for page, start, part in self._parts(rest):
            self._pages.setdefault(page, bytearray(_PAGE))[start : start + len(part)] = part
            self._end = max(self._end, page * _PAGE + start + len(part))
        return size

    def readinto(self, buffer: Any) -> int:
        target = memoryview(buffer).cast("B")
        if self.error is None:
            return super().readinto(target)
        place = self.tell()
        of_file = super().readinto(target) or 0
        target[of_file:] = bytes(len(target) - of_file)
        super().seek(place)
        for page, start, part in self._parts(target):
            if page in self._pages:
                part[:] = self._pages[page][start : start + len(part)]
        return len(target)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        place = super().seek(offset, whence)
        return super().seek(max(place, self._end)) if whence == os.SEEK_END else place

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return size or 0

    def _parts(self, data: memoryview) -> Iterator[tuple[int, int, memoryview]]:
        """Cuts data at the current position by pages. Yields the page, the start in it, and the part."""
        while data:
            page, start = divmod(self.tell(), _PAGE)
            part, data = data[: _PAGE - start], data[_PAGE - start :]
            yield page, start, part
            super().seek(page * _PAGE + start + len(part))


@contextmanager
def _defer_signals(target: DeferringFile) -> Iterator[None]:
    """
    Makes Ctrl-C and SIGTERM end the writing as a full disk does, and raises them at the end. HDF5 would
    replace an exception that is raised while it calls the file with an error of its own.
    """
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        came.append(number)
        target.error = target.error or InterruptedError("stopped by a signal")

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    is_main = threading.current_thread() is threading.main_thread()  # other threads are not interrupted
    raising = {number: handler for number, handler in handlers.items() if is_main and callable(handler)}
    for number in raising:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in raising.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def new_hdf5(path: str | Path, **options: Any) -> Iterator[tuple[h5py.File, DeferringFile]]:
    """
    Creates a file with these `options` of `h5py.File`. Yields it and the file below it, whose `error` says
    early that it cannot be written, or that Ctrl-C or SIGTERM came. Raises that `OSError`, or what the signal
    raises, at the end.
    """
    with DeferringFile(path) as target, _defer_signals(target):
        try:
            with h5py.File(target, "w", **options) as file:
                yield file, target
        finally:
            if target.error is not None:
                raise target.error


def write_dataset(file: h5py.File, name: str, values: np.ndarray, **options: Any) -> None:
    """Writes numbers, with their checksum in an attribute."""
    dataset = file.create_dataset(name, data=values, **options)
    dataset.attrs[_CHECKSUM] = np.uint32(checksum(values))


def write_strings(file: h5py.File, name: str, strings: Sequence[str]) -> None:
    """
    Writes strings without NUL characters as UTF-8 bytes, each followed by a zero. HDF5's own type for strings
    of any length is not used, because reading damaged ones may never end.
    """
    content = b"".join(string.encode() + b"\0" for string in strings)
    write_dataset(file, name, np.frombuffer(content, np.uint8))


def find_numbers(file: h5py.File, name: str) -> h5py.Dataset | None:
    """
    Returns the dataset of this name, if there is one. Raises `BiLmError` if it does not hold floating-point
    numbers; if some of them are not in this file, since HDF5 reads zeros for what was never written or is in
    another file that is missing; or if they would take far more memory than the file.
    """
    dataset = _find(file, name)
    if dataset is not None and dataset.dtype.kind != "f":
        raise BiLmError(f"the dataset {name} has no floating-point numbers, but {dataset.dtype}")
    return dataset


def find_strings(file: h5py.File, name: str) -> h5py.Dataset | None:
    """Returns the dataset that `write_strings` wrote. Raises `BiLmError` if it holds something else."""
    dataset = _find(file, name)
    if dataset is not None and (dataset.ndim != 1 or dataset.dtype != np.uint8):
        raise BiLmError(f"the dataset {name} is not a list of strings, but {dataset.dtype}")
    return dataset


def read_numbers(dataset: h5py.Dataset) -> np.ndarray:
    """Reads a dataset. Raises `BiLmError` if it has a checksum and does not match it."""
    values = dataset[()]
    written = dataset.attrs.get(_CHECKSUM)
    if written is not None and written != checksum(values):
        raise BiLmError(f"the dataset {dataset.name} is damaged: it is not what was written")
    return values


def read_strings(dataset: h5py.Dataset) -> list[str]:
    """Reads what `write_strings` wrote. Raises `BiLmError` if it is damaged."""
    *strings, end = read_numbers(dataset).tobytes().decode("utf-8").split("\0")
    if end:
        raise BiLmError(f"the dataset {dataset.name} is cut")
    return strings


def _find(file: h5py.File, name: str) -> h5py.Dataset | None:
    dataset = file.get(name)
    if not isinstance(dataset, h5py.Dataset):
        return None
    if dataset.is_virtual or dataset.external or dataset.file.filename != file.filename:
        raise BiLmError(f"the dataset {name} is in another file")
    if dataset.nbytes > max(MAX_BYTES, MAX_RATIO * file.file.id.get_filesize()):
        size = f"{dataset.nbytes / 1e9:.1f} GB"
        raise BiLmError(f"the dataset {name} is compressed to far less than its {size}, as numbers never are")
    if dataset.size:
        if dataset.chunks is None:
            is_complete = dataset.id.get_storage_size() >= dataset.nbytes
        else:
            sizes = zip(dataset.shape, dataset.chunks, strict=True)
            num_chunks = math.prod(-(-size // chunk_size) for size, chunk_size in sizes)
            is_complete = dataset.id.get_num_chunks() == num_chunks
        if not is_complete:
            raise BiLmError(f"the dataset {name} was not written completely")
    return dataset
