"""Tar archives, of which only plain files are read.

The name of a file must lie below the folder that it is written to. A link is never created: one to an earlier
file of the archive becomes a copy. Compressed data is read to its end, where its checksum is. The size is
limited.
"""

import bz2
import errno
import gzip
import lzma
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any

from elmo_plugin.common.errors import BiLmError, raise_stop
from elmo_plugin.common.files import OF_WRITING, reason

MAX_BYTES = 2**31  # which any archive may unpack to
MAX_RATIO = 100  # of unpacked to packed size, for larger archives; weights have about 1.1
MAX_MEMBERS = 10_000
_MAX_HEADER = 2**20  # bytes of a long name or of attributes, which have these types:
_HEADER_TYPES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, b"x", b"g", b"X")
_READ = 2**20
_OF_THE_DISK = (*OF_WRITING, errno.EACCES, errno.EPERM)
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}

Content = Iterator[bytes]


def read_members(path: str | Path, is_wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """
    Reads files of an archive into memory.

    # Parameters

    path : `str | Path`
        A tar archive, plain or compressed by gzip, bzip2 or xz.
    is_wanted : `Callable[[str], bool]`
        Returns whether to read the file of this name, such as `vocabulary/words.txt`.

    # Returns

    `dict[str, bytes]`
        The content of each file by its name.

    Raises `BiLmError` if the archive is missing, damaged or too large, or has entries other than files.
    """
    found: dict[str, bytes] = {}
    with _named(path):
        for name, content in _files(Path(path), found.get):
            if is_wanted(name):
                found[name] = b"".join(content)
    return found


def unpack(path: str | Path, folder: str | Path) -> None:
    """
    Unpacks an archive into a folder, and writes nothing outside it.

    Raises `BiLmError` as `read_members` does, with an incomplete folder, and `OSError`, naming the archive,
    if it cannot be written.
    """

    def copy(name: str) -> bytes | None:
        file = Path(folder) / name
        return file.read_bytes() if file.is_file() else None

    with _named(path):
        for name, content in _files(Path(path), copy):
            target = Path(folder) / name
            with _writing(path, folder):
                target.parent.mkdir(parents=True, exist_ok=True)
                file = open(target, "wb")  # noqa: SIM115 (the errors of reading are others)
            with file:
                for part in content:
                    with _writing(path, folder):
                        file.write(part)
                with _writing(path, folder):
                    file.flush()


class _NotWritten(OSError):
    """An error of the disk, not of the archive."""


@contextmanager
def _writing(path: str | Path, folder: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_THE_DISK:  # an entry that is both a file and a folder, or too long a name
            raise
        message = f"archive {path}: could not unpack it into {folder}: {reason(error)}"
        raise _NotWritten(error.errno, message) from error


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    if not Path(path).is_file():
        raise BiLmError(f"archive {path}: there is no such file")
    try:
        yield
    except BiLmError as error:
        raise BiLmError(f"archive {path}: {error}") from None
    except _NotWritten:
        raise
    except PermissionError as error:
        raise BiLmError(f"archive {path}: cannot be read ({reason(error)})") from None
    except Exception as error:  # damage can make the readers raise anything
        raise_stop(error)
        raise BiLmError(
            f"archive {path}: not a whole tar archive ({error or type(error).__name__})"
        ) from error


def _files(path: Path, copy: Callable[[str], bytes | None]) -> Iterator[tuple[str, Content]]:
    """
    Yields the name and the content of each file, in order. The content must be read before the next file.
    `copy` returns the content of an earlier file, for links to it.
    """
    limit = max(MAX_BYTES, MAX_RATIO * path.stat().st_size)
    total = number = 0
    with open(path, "rb") as raw:
        head = raw.read(6)
        raw.seek(0)
        opener = next((each for magic, each in _OPENERS.items() if head.startswith(magic)), None)
        stream = opener(raw, "rb") if opener else raw
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member, bufsize=_READ) as archive:
            for member in archive:
                name = _inner_name(member.name)
                number += 1
                linked = _linked(member, name, copy) if member.islnk() or member.issym() else None
                total += member.size if linked is None else len(linked)
                if number > MAX_MEMBERS or total > limit:
                    most = f"{MAX_MEMBERS:,} files or {limit / 1e9:.1f} GB"
                    raise BiLmError(f"it unpacks to more than {most}, which no model needs")
                if member.isdir():
                    continue
                if linked is not None:
                    yield name, iter([linked])
                elif member.isreg() and not member.issparse():
                    file = archive.extractfile(member)
                    assert file is not None  # it is one
                    yield name, _parts(file, member.size)
                else:
                    raise BiLmError(f"{member.name!r} in it is neither a file nor a folder")
            _read_to_end(archive.fileobj, stream, limit)


def _inner_name(name: str) -> str:
    """
    Returns the name of a member without `./`. Raises `BiLmError` where it points out of the archive, on any
    system.
    """
    path, on_windows = PurePosixPath(name), PureWindowsPath(name)
    if path.is_absolute() or on_windows.anchor or ".." in on_windows.parts or "\0" in name:
        raise BiLmError(f"{name!r} in it would be written outside its folder")
    return str(path)


def _linked(member: tarfile.TarInfo, name: str, copy: Callable[[str], bytes | None]) -> bytes:
    """Returns the content of the file that a link names, which must have come before it."""
    target = member.linkname if member.islnk() else str(PurePosixPath(name).parent / member.linkname)
    content = copy(_inner_name(target))
    if content is None:
        raise BiLmError(f"{name!r} in it is a link to {member.linkname!r}, which is not a file before it")
    return content


def _parts(file: IO[bytes], size: int) -> Content:
    while size > 0:
        part = file.read(min(size, _READ))
        if not part:
            raise EOFError("it ends in the middle of a file")
        size -= len(part)
        yield part


def _read_to_end(tar: Any, stream: Any, limit: int) -> None:
    """Reads what comes after the last file: zeros, and at the end of what is compressed its checksum."""
    for rest in (tar, stream):
        while part := rest.read(_READ):
            limit -= len(part)
            if part.strip(b"\0") or limit < 0:
                raise BiLmError("it continues after its end, or is damaged")


class _Member(tarfile.TarInfo):
    """
    A member whose header is not read if it is too large. The map of a sparse file has no limit of its own, so
    sparse files are refused.
    """

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("it has a sparse file")
        if self.size < 0 or (self.type in _HEADER_TYPES and self.size > _MAX_HEADER):
            raise tarfile.ReadError(f"it has a header of {self.size:,} bytes")
        return super()._proc_member(archive)  # type: ignore[misc]

    def _proc_gnusparse_10(self, *_: Any) -> None:
        raise tarfile.ReadError("it has a sparse file")
