"""What Windows lacks or refuses is not asked of it. The tests take it away here, on Linux."""

import fcntl
import os
import signal
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from allennlp.common import Params

from elmo_plugin.commands import stops
from elmo_plugin.common import files, outputs
from elmo_plugin.demo.page import server
from elmo_plugin.embed_files import resume
from elmo_plugin.embedding.cache.sqlite_store import NAME, PAGE_SIZE, SqliteStore
from elmo_plugin.sweeps import trainings


class Windows:
    """`os` with the name `nt`, which opens no folder, and flushes no file that was opened for reading."""

    name = "nt"

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Path, flags: int) -> int:
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return os.open(path, flags)

    def fsync(self, descriptor: int) -> None:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(9, "Bad file descriptor")
        os.fsync(descriptor)

    def kill(self, process: int, number: int) -> None:
        raise AssertionError("this would end the process")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    return lambda module: monkeypatch.setattr(module, "os", Windows())


def test_a_file_is_written(windows: Callable[[Any], None], tmp_path: Path) -> None:
    windows(files)
    for content in ("first", "second"):
        with files.atomic_write(tmp_path / "new" / "file.txt") as temporary:
            temporary.write_text(content)
        assert (tmp_path / "new" / "file.txt").read_text() == content
    with files.atomic_write(tmp_path / "folder") as temporary:
        temporary.mkdir()
    assert (tmp_path / "folder").is_dir()


def test_a_device_is_written_into(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "content").write_text("any")
    for name in ("O_NONBLOCK", "O_NOCTTY", "set_blocking"):
        monkeypatch.delattr(os, name)
    outputs.write_into(os.devnull, tmp_path / "content")


def test_a_drive_is_no_configuration_with_a_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(Params, "from_file", lambda file, *_: asked.append(file) or Params({}))
    trainings.read_configs(r"C:\experiments\ner.jsonnet")
    assert asked == [r"C:\experiments\ner.jsonnet"]


def test_no_open_lock_is_deleted(
    windows: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "it is open", str(path))

    windows(files)
    monkeypatch.setattr(Path, "unlink", refuse)
    with files.locked(tmp_path / "lock"):
        assert (tmp_path / "lock").exists()


def test_an_unfinished_output_is_removed_but_for_its_lock(
    windows: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: str, **_: Any) -> None:
        if os.path.basename(path) == "lock":
            raise PermissionError(13, "it is open", path)
        unlink(path, **_)

    unlink = os.unlink
    windows(resume)
    monkeypatch.setattr(os, "unlink", refuse)
    with resume.unfinished_chunks(tmp_path / "vectors.hdf5", {}) as folder:
        (folder / "0.part").write_bytes(b"")
    assert [path.name for path in folder.iterdir()] == ["lock"]


def test_a_damaged_cache_is_closed_before_it_is_deleted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store, rows = SqliteStore(tmp_path, 10**6), np.ones((99, 256), np.float32)
    keys = [bytes([number] * 16) for number in range(99)]
    store.write(keys, rows)
    store.close()
    with (tmp_path / NAME).open("r+b") as file:
        file.seek(PAGE_SIZE)
        file.write(b"damage" * PAGE_SIZE)
    unlink = Path.unlink

    def refuse_open(path: Path, missing_ok: bool = False) -> None:
        opened = {os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()}
        assert str(path) not in opened
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse_open)
    assert SqliteStore(tmp_path, 10**6).read(keys, rows) == list(range(99))
    assert sqlite3.connect(tmp_path / NAME).execute("SELECT count(*) FROM records").fetchone() == (0,)


def test_two_pages_do_not_share_a_port(windows: Callable[[Any], None]) -> None:
    windows(server)
    with server.open_socket("127.0.0.1", 0) as opened:
        assert not opened.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)


def test_an_interrupt_that_python_drops_is_raised_again(
    windows: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = []
    windows(stops)
    monkeypatch.setattr(stops.signal, "raise_signal", raised.append)
    monkeypatch.setattr(stops.threading, "Timer", lambda _, call, given: _Now(call, given))
    of_program = stops.Stops(is_program=False)
    of_program.number = signal.SIGINT
    of_program._raise_again(_Lost(KeyboardInterrupt))
    assert raised == [signal.SIGINT]


class _Now:
    def __init__(self, call: Callable[..., None], given: list[int]) -> None:
        self.start = lambda: call(*given)


class _Lost:
    def __init__(self, exc_type: type[BaseException]) -> None:
        self.exc_type = exc_type
