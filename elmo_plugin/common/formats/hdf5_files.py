"""HDF5 files: read with more checks than the library has; written so that a full disk is an error."""

import io
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo_plugin.common.errors import BiLmError, raise_stop
from elmo_plugin.common.files import checksum, reason

_PAGE = 2**16
_CHECKSUM = "crc32"  # an attribute of each dataset that was written by `write_dataset`


@contextmanager
def open_hdf5(path: str | Path, name: str) -> Iterator[h5py.File]:
    """
    Opens a file to be read. Raises `BiLmError`, which calls the file `name`, where it is missing, or where
    anything that is read from it in the block is damaged.
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
    except Exception as error:  # damage can make the library stumble over anything
        raise_stop(error)
        raise BiLmError(f"{name}: not a whole HDF5 file ({error or type(error).__name__})") from None


class DeferringFile(io.FileIO):
    """
    A file whose writing never fails: its first error is in `error`, and what is written from then on is kept
    in memory, where it can be read. HDF5 ends the process with a segmentation fault when it cannot write, as
    on a full disk, and also when it then reads something else than it wrote.
    """

    error: OSError | None = None

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, "w+")
        self._pages: dict[int, bytearray] = {}  # of what could not be written, by their numbers
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
        """Cuts data from here on into pages: yields the page, where in it a part begins, and the part."""
        while data:
            page, start = divmod(self.tell(), _PAGE)
            part, data = data[: _PAGE - start], data[_PAGE - start :]
            yield page, start, part
            super().seek(page * _PAGE + start + len(part))


@contextmanager
def new_hdf5(path: str | Path, **options: Any) -> Iterator[tuple[h5py.File, DeferringFile]]:
    """
    Makes a file, for `h5py.File` with these `options`. Yields it with what is below it, whose `error` tells
    early that it cannot be written. Raises that `OSError` at the end.
    """
    with DeferringFile(path) as target:
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
    Writes strings, none with the character NUL in it, as the bytes of their UTF-8, a zero after each. The
    type that HDF5 has for strings of any length is not taken: reading damaged ones can go on for ever.
    """
    content = b"".join(string.encode() + b"\0" for string in strings)
    write_dataset(file, name, np.frombuffer(content, np.uint8))


def find_numbers(file: h5py.File, name: str) -> h5py.Dataset | None:
    """
    Returns the dataset of this name, if there is one. Raises `BiLmError` where it has no floating-point
    numbers, or not all of its numbers are in this file: HDF5 gives zeros for what was never written, and for
    what is in another file that is gone.
    """
    dataset = _find(file, name)
    if dataset is not None and dataset.dtype.kind != "f":
        raise BiLmError(f"the dataset {name} has no floating-point numbers, but {dataset.dtype}")
    return dataset


def find_strings(file: h5py.File, name: str) -> h5py.Dataset | None:
    """Does the same for strings, as `write_strings` writes them or as HDF5's own (of earlier versions)."""
    dataset = _find(file, name)
    if dataset is not None:
        is_ours = dataset.dtype == np.uint8
        if dataset.ndim != 1 or not (is_ours or h5py.check_string_dtype(dataset.dtype)):
            raise BiLmError(f"the dataset {name} is no list of strings, but {dataset.dtype}")
    return dataset


def read_numbers(dataset: h5py.Dataset) -> np.ndarray:
    """Reads what `find_numbers` found; `BiLmError` where it is not what was written."""
    values = dataset[()]
    _compare(dataset, checksum(values))
    return values


def read_strings(dataset: h5py.Dataset) -> list[str]:
    """Reads what `find_strings` found; `BiLmError` where it is not what was written."""
    if dataset.dtype != np.uint8:
        return dataset.asstr()[()].tolist()
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
    if dataset.size:
        if dataset.chunks is None:
            is_written = dataset.id.get_storage_size() >= dataset.nbytes
        else:
            sizes = zip(dataset.shape, dataset.chunks, strict=True)
            chunks = math.prod(-(-size // of_chunk) for size, of_chunk in sizes)
            is_written = dataset.id.get_num_chunks() == chunks
        if not is_written:
            raise BiLmError(f"the dataset {name} was not written to its end")
    return dataset


def _compare(dataset: h5py.Dataset, found: int) -> None:
    written = dataset.attrs.get(_CHECKSUM)
    if written is not None and written != found:
        raise BiLmError(f"the dataset {dataset.name} is damaged: it is not what was written")
