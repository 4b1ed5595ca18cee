"""Reads only the plain files of archives: no links, nothing outside the folder, limited in size."""

import gzip
import shutil
import stat
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING, Any

from elmo_plugin.common.errors import BiLmError, message_of, raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.files import reason

if TYPE_CHECKING:
    from typing_extensions import Self  # in `typing` from Python 3.11 on

# Archives may unpack to this many bytes. Larger ones may unpack to this multiple of their own size;
# the files of a model unpack to about 1.1 times their size.
MAX_BYTES = 2**31
MAX_RATIO = 100
MAX_SMALL_MEMBER = 2**27  # bytes to which a file in a zip archive may unpack, at any ratio
MAX_MEMBERS = 10_000
_READ_SIZE = 2**20  # bytes at a time
# The most bytes of a header that holds a long name or attributes. A global header holds attributes
# of all later members; `tarfile` copies them for each member, so there may be only a few.
_MAX_HEADER = 2**16
_MAX_GLOBAL_HEADERS = 100
_GLOBAL_HEADER = b"g"
# The longest name of a member, and the most folders in it: `zipfile` makes an entry for each.
_MAX_NAME = 4096
_MAX_DEPTH = 100
_HEADER_TYPES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, b"x", b"g", b"X")


def read_members(path: str | Path, is_wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """
    Returns the contents of the wanted files of a tar archive, perhaps compressed by gzip, by their
    names. Raises `BiLmError` if the archive is damaged, too large, or has anything but files and
    folders inside it.
    """
    contents = {}
    with _archive_named_in_errors(path):
        for name, file in _files_of_tar(Path(path)):
            if is_wanted(name):
                # In pieces, because `file.read()` reserves as much memory as the header of the file
                # says, and the header may be forged.
                content = bytearray()
                while piece := file.read(_READ_SIZE):
                    content += piece
                contents[name] = bytes(content)
    return contents


def unpack(path: str | Path, folder: str | Path) -> None:
    """
    Unpacks a tar archive into a folder, and writes nothing outside it. Raises `BiLmError` if the
    archive is damaged, too large, or has anything but files and folders inside it.
    """
    with _archive_named_in_errors(path):
        for name, file in _files_of_tar(Path(path)):
            target = Path(folder) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "wb") as copy:
                shutil.copyfileobj(file, copy)


def is_zip(path: Path) -> bool:
    """Returns whether a file begins as zip archives do."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _check_zip_names(names: Sequence[str]) -> None:
    """Raises `BiLmError` for too many files in a zip archive, or a repeated or strange name."""
    count_of_name = Counter(names)
    if len(count_of_name) > MAX_MEMBERS:
        raise BiLmError(f"too many files: more than {MAX_MEMBERS:,}")
    for name, count in count_of_name.items():
        _check_name(name)
        if count > 1:
            raise BiLmError(f"several files are called {name!r}")


def _folder_in_zipfile(folder: str) -> str:
    """
    Returns the path of a folder as `zipfile` takes it: with a slash at its end. Files outside all
    folders are in the folder with an empty name, which gets no slash.
    """
    if not folder:
        return ""
    return f"{folder}/"


class ZippedPath(zipfile.Path):
    """
    A file or folder in a zip archive, read without unpacking the others. Raises `BiLmError` if it
    is damaged or huge.
    """

    @classmethod
    def folders(cls, path: Path) -> "list[ZippedPath]":
        """
        Returns the folders of a zip archive that have files directly in them, without the folders
        that macOS adds.
        """
        with _archive_named_in_errors(path, "zip"):
            archive = zipfile.ZipFile(path)
            names = archive.namelist()
            _check_zip_names(names)
            folders = set()
            for name in names:
                folder, _, file = name.rpartition("/")
                if file:  # the name of a folder ends with a slash
                    folders.add(folder)
            zipped_paths = []
            for folder in sorted(folders):
                if not folder.startswith("__MACOSX"):
                    zipped_paths.append(cls(archive, at=_folder_in_zipfile(folder)))
            return zipped_paths

    def read_bytes(self) -> bytes:
        """Returns the content of a file. It is unpacked only once."""
        return self._content

    @cached_property
    def _content(self) -> bytes:
        """Unpacks the file, unless it is encrypted, a link or huge."""
        if not self.is_file():
            raise FileNotFoundError(str(self))
        with _archive_named_in_errors(str(self.root.filename), "zip"):
            member = self.root.getinfo(self.at)
            is_encrypted = member.flag_bits & 1
            unix_mode = member.external_attr >> 16
            if is_encrypted:
                raise BiLmError(
                    f"{self.at} is encrypted; unpack the archive and pass the path of the folder"
                )
            if stat.S_ISLNK(unix_mode):
                raise BiLmError(f"{self.at} is neither a file nor a folder")
            if member.file_size > max(MAX_SMALL_MEMBER, MAX_RATIO * member.compress_size):
                raise BiLmError(f"too large: {self.at} unpacks to {member.file_size / 1e9:.1f} GB")
            return super().read_bytes()


AnyPath = Path | zipfile.Path


@contextmanager
def _archive_named_in_errors(path: str | Path, kind: str = "tar") -> Iterator[None]:
    """
    Turns every error within the block, except for a lack of memory, into a `BiLmError` that names
    the archive. Raises `BiLmError` before the block if the archive is missing.
    """
    if not Path(path).is_file():
        raise BiLmError(f"archive {path}: file not found")
    try:
        yield
    except BiLmError as error:
        raise BiLmError(f"archive {path}: {error}") from None
    except Exception as error:  # damage can make the readers raise anything
        raise_if_sigterm_or_out_of_memory(error)
        # An `OSError` with a number comes from the system. The one that gzip raises for a damaged
        # archive is without a number.
        if isinstance(error, OSError) and error.errno is not None:
            raise BiLmError(
                f"archive {path}: cannot be read or unpacked ({reason(error)})"
            ) from None
        message = f"archive {path}: not a whole {kind} archive ({message_of(error)})"
        raise BiLmError(message) from error


def _check_name(name: str) -> None:
    """
    Raises `BiLmError` for a name that no model's file has: a long one, one with the character NUL,
    or one with many or nameless folders.
    """
    is_too_long = len(name) > _MAX_NAME
    is_too_deep = name.count("/") > _MAX_DEPTH
    has_nameless_folder = "//" in name
    if is_too_long or is_too_deep or has_nameless_folder or "\0" in name:
        raise BiLmError(f"{name[:60]!r}… is no name of a file")


def _files_of_tar(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """
    Yields the name and the stream of each file of a tar archive. A stream must be read before the
    next one.
    """
    with open(path, "rb") as packed:
        limit = max(MAX_BYTES, MAX_RATIO * path.stat().st_size)
        stream: Any = _LimitedStream(_decompressed(packed), limit)
        with tarfile.open(
            fileobj=stream, mode="r|", tarinfo=_Member, bufsize=_READ_SIZE
        ) as archive:
            for number, member in enumerate(archive):
                if number >= MAX_MEMBERS:
                    raise BiLmError(f"too many files: more than {MAX_MEMBERS:,}")
                # `tarfile` would keep the name and the attributes of every member in memory.
                archive.members.clear()  # type: ignore[attr-defined]
                _check_member(member)
                if member.isdir():
                    continue  # the folders of files are made when the files are written
                file = archive.extractfile(member)
                assert file is not None  # it is `None` only for folders and links
                name = str(PurePosixPath(member.name))  # without the `./` that some tools write
                yield name, file
            # Read through `tarfile`, because it has a part of the rest in its buffer.
            _check_rest(archive.fileobj)


def _decompressed(packed: IO[bytes]) -> Any:
    """Returns a stream of the content of a file, decompressed if it begins as files of gzip do."""
    is_gzip = packed.read(2) == b"\x1f\x8b"
    packed.seek(0)
    if is_gzip:
        return gzip.GzipFile(fileobj=packed)
    return packed


def _check_member(member: tarfile.TarInfo) -> None:
    """
    Raises `BiLmError` for a member that is neither a file nor a folder, or would be written outside
    the folder into which its archive is unpacked.
    """
    _check_name(member.name)
    windows_path = PureWindowsPath(member.name)  # it splits at `/` and at `\`
    if windows_path.anchor or ".." in windows_path.parts:
        raise BiLmError(f"{member.name!r} would be written outside its folder")
    is_plain_file = member.isreg() and not member.issparse()
    if not is_plain_file and not member.isdir():
        raise BiLmError(f"{member.name!r} is neither a file nor a folder")


def _check_rest(stream: Any) -> None:
    """
    Reads the rest of a stream, after the last file. Raises `BiLmError` if there is anything but
    zeros. Reading to the end also makes gzip compare its checksum.
    """
    while block := stream.read(_READ_SIZE):
        if block.strip(b"\0"):
            raise BiLmError("there is data after the end of the archive: it may be damaged")


class _LimitedStream:
    """A stream that raises `BiLmError` if more than `limit` bytes are read."""

    def __init__(self, stream: Any, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._rest = limit

    def read(self, size: int) -> bytes:
        """Returns up to `size` bytes."""
        content: bytes = self._stream.read(size)
        self._rest -= len(content)
        if self._rest < 0:
            raise BiLmError(f"too large: unpacks to more than {self._limit / 1e9:.1f} GB")
        return content


class _Member(tarfile.TarInfo):
    """
    A member of a tar archive. Raises `tarfile.ReadError` for a damaged or large header, and for a
    sparse file, because the list of its blocks can have any length.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "Self":
        """Reads a header. `tarfile` itself would take a damaged one for the end of the archive."""
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # zeros: the end
            raise
        except tarfile.HeaderError as error:
            message = f"{error}, or the end of the archive is missing"
            raise tarfile.ReadError(message) from None

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Checks a header before `tarfile` reads the content behind it."""
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("it contains a sparse file, which is not supported")
        if self.size < 0 or (self.type in _HEADER_TYPES and self.size > _MAX_HEADER):
            raise tarfile.ReadError(f"it has a header of {self.size:,} bytes")
        if self.type == _GLOBAL_HEADER:
            self._count_global_header(archive)
        return super()._proc_member(archive)  # type: ignore[misc]

    def _count_global_header(self, archive: tarfile.TarFile) -> None:
        """
        Counts the global headers of an archive, in an attribute that `archive` gets here. Raises
        `tarfile.ReadError` if there are too many.
        """
        number = getattr(archive, "num_global_headers", 0) + 1
        archive.num_global_headers = number  # type: ignore[attr-defined]
        if number > _MAX_GLOBAL_HEADERS:
            raise tarfile.ReadError(f"it has more than {_MAX_GLOBAL_HEADERS} global headers")

    def _proc_gnusparse_10(self, *_: Any) -> None:
        """Refuses a sparse file that another kind of header describes."""
        raise tarfile.ReadError("it contains a sparse file, which is not supported")
