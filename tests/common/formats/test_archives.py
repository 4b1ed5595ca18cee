"""What comes out of an archive is what was put into it, below the folder, or nothing."""

import gzip
import io
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats import archives
from elmo_plugin.common.formats.archives import read_members, unpack

Member = tuple[tarfile.TarInfo, bytes]


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content)
    return info, content


def tar(members: Sequence[Member]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


PLAIN = [
    member("./config.json", b"{}"),
    member("vocabulary", kind=tarfile.DIRTYPE),
    member("vocabulary/words.txt", b"the\n" * 5000),
    member("weights.th", bytes(range(256)) * 300),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "a" / "b"


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_files_are_unpacked_unchanged(
    compress: Callable[[bytes], bytes], tmp_path: Path, folder: Path
) -> None:
    path = tmp_path / "model.tar.gz"
    path.write_bytes(compress(tar(PLAIN)))
    unpack(path, folder)
    expected = {
        info.name.removeprefix("./"): content
        for info, content in PLAIN
        if info.type == tarfile.REGTYPE
    }
    found = {
        file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()
    }
    assert {name: file.read_bytes() for name, file in found.items()} == expected
    assert read_members(path, lambda name: True) == expected
    assert list(read_members(path, lambda name: name == "weights.th")) == ["weights.th"]


@pytest.mark.parametrize(
    "members",
    [
        [member("../out", b"x")],
        [member("/tmp/elmo_plugin_out", b"x")],
        [member("..\\out", b"x")],
        [member("link", kind=tarfile.SYMTYPE, link=".."), member("link/out", b"x")],
        [member("link", kind=tarfile.LNKTYPE, link="/etc/hostname")],
        [member("pipe", kind=tarfile.FIFOTYPE)],
        [member("device", kind=tarfile.CHRTYPE)],
    ],
    ids=["up", "root", "up-on-windows", "link", "hard-link", "pipe", "device"],
)
def test_nothing_is_written_outside_the_folder(
    members: list[Member], tmp_path: Path, folder: Path
) -> None:
    path = tmp_path / "model.tar.gz"
    path.write_bytes(gzip.compress(tar([*PLAIN, *members])))
    before = set(tmp_path.rglob("*"))
    with pytest.raises(BiLmError, match=f"archive {path}: "):
        unpack(path, folder)
    outside = {file for file in tmp_path.rglob("*") if not file.is_relative_to(tmp_path / "a")}
    assert outside == before and not Path("/tmp/elmo_plugin_out").exists()
    assert not any(file.is_symlink() for file in folder.rglob("*"))


def test_a_name_with_nul_is_no_name_of_a_file(tmp_path: Path, folder: Path) -> None:
    info, content = member("short", b"x")
    info.pax_headers = {"path": "a\0b"}  # the header of a member itself would end at the zero
    path = tmp_path / "model.tar"
    path.write_bytes(tar([(info, content)]))
    with pytest.raises(BiLmError, match="is no name of a file"):
        unpack(path, folder)


def test_every_flipped_byte_and_every_truncation_is_detected(tmp_path: Path) -> None:
    content = gzip.compress(tar(PLAIN))
    path = tmp_path / "model.tar.gz"
    for place in range(10, len(content), len(content) // 50):  # after the time and the system
        damaged = bytearray(content)
        damaged[place] ^= 16
        for kind in (bytes(damaged), content[:place]):
            path.write_bytes(kind)
            with pytest.raises(BiLmError, match=f"archive {path}: "):
                read_members(path, lambda name: True)


def test_no_file_of_an_uncompressed_archive_is_lost_silently(tmp_path: Path) -> None:
    """The last file is empty, so only zeros follow its header."""
    members = [member("config.json", b"{}"), member("labels.txt", b"O\n"), member("empty.txt")]
    content = tar(members)
    length_without_end = 5 * 512  # three headers, and two blocks of content
    path = tmp_path / "model.tar"
    expected = {info.name: text for info, text in members}
    damaged = [content[:length] for length in range(0, length_without_end + 1, 64)]
    for start in (0, 1024, 2048):  # of headers
        for place in range(start, start + 512):
            flipped = bytearray(content)
            flipped[place] ^= 1
            damaged.append(bytes(flipped))
    num_errors = 0
    for each in damaged:
        path.write_bytes(each)
        try:
            found = read_members(path, lambda name: True)
        except BiLmError as error:
            assert str(error).startswith(f"archive {path}: ")
            num_errors += 1
        else:
            assert found == expected  # the byte means nothing
    assert num_errors > 0.95 * len(damaged)


def sparse_by_attributes() -> bytes:
    info = tarfile.TarInfo("weights.th")
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "weights.th",
    }
    return info.tobuf(format=tarfile.PAX_FORMAT)


@pytest.mark.parametrize(
    "header",
    [tar([member("weights.th", kind=tarfile.GNUTYPE_SPARSE)])[:512], sparse_by_attributes()],
)
def test_sparse_files_are_refused_because_their_map_is_unlimited(
    header: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "model.tar.gz"
    path.write_bytes(gzip.compress(header + b"1\n" * 1_000_000 + bytes(1024)))
    with pytest.raises(BiLmError, match="it contains a sparse file"):
        read_members(path, lambda name: True)


def test_archives_that_unpack_to_many_times_their_size_are_refused(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_BYTES", 10**6)
    path = tmp_path / "model.tar.gz"
    path.write_bytes(gzip.compress(tar([member("zeros", bytes(2 * 10**6))])))
    with pytest.raises(BiLmError, match="unpacks to more than"):
        unpack(path, folder)
    with pytest.raises(BiLmError, match="unpacks to more than"):
        read_members(path, lambda name: True)
    path.write_bytes(gzip.compress(tar([member("file", b"x")]) + bytes(2 * 10**6)))
    with pytest.raises(BiLmError, match="unpacks to more than"):
        read_members(path, lambda name: True)
    monkeypatch.undo()
    long_name = member("n" * (archives._MAX_HEADER + 1), b"")
    path.write_bytes(gzip.compress(tar([long_name])))
    with pytest.raises(BiLmError, match="it has a header of 65,"):
        unpack(path, folder)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + bytes(600), b"hello\n" * 200])
def test_a_file_that_is_no_archive_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.tar.gz").write_bytes(content)
    with pytest.raises(
        BiLmError, match=f"archive {tmp_path}/model.tar.gz: not a whole tar archive"
    ):
        read_members(tmp_path / "model.tar.gz", lambda name: True)
    with pytest.raises(BiLmError, match=r"gone\.tar\.gz: file not found"):
        read_members(tmp_path / "gone.tar.gz", lambda name: True)


def test_a_write_error_is_not_blamed_on_the_archive(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar(PLAIN))
    (folder / "weights.th").mkdir(parents=True)
    with pytest.raises(
        BiLmError, match=f"archive {path}: cannot be read or unpacked .Is a directory"
    ):
        unpack(path, folder)
