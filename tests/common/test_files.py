"""Files are whole, and go into the target of a symlink, into devices and pipes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from elmo_plugin.common import files
from elmo_plugin.common.files import (
    atomic_write,
    atomic_write_all,
    locked,
    temporary_folder,
    write_json,
)

STDOUT = """
import sys
from elmo_plugin.common.files import write_json
print("before")
write_json(sys.argv[1], [1])
print("after")
"""


def test_the_target_of_a_symlink_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link, dangling = tmp_path / "far" / "target", tmp_path / "link", tmp_path / "dangling"
    target.write_text("old")
    link.symlink_to(target)
    dangling.symlink_to("far/new")
    with atomic_write_all([link, dangling]) as temporaries:
        for temporary in temporaries:
            temporary.write_text("new")
    assert link.is_symlink() and dangling.is_symlink()
    assert target.read_text() == (tmp_path / "far" / "new").read_text() == "new"
    assert len(list(tmp_path.rglob("*"))) == 5


def test_a_pipe_receives_the_content_and_is_not_replaced(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_json(pipe, "x" * 200_000)
    reader.join()
    assert found == [f'"{"x" * 200_000}"\n'] and pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_content_for_standard_output_keeps_its_place_between_prints(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w") as output:
        subprocess.run([sys.executable, "-c", STDOUT, "/dev/stdout"], check=True, stdout=output)
    assert (tmp_path / "out").read_text() == "before\n[\n  1\n]\nafter\n"


def test_a_finished_file_replaces_the_old_one(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "new" / "file.txt") as temporary:
        temporary.write_text("whole")
    assert (tmp_path / "new" / "file.txt").read_text() == "whole"
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / "file.txt"]


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("old")
    with pytest.raises(RuntimeError), atomic_write(tmp_path / "file.txt") as temporary:
        temporary.write_text("ha")
        raise RuntimeError
    assert (tmp_path / "file.txt").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "file.txt"]


def test_an_error_names_the_one_of_several_files_that_could_not_be_written(tmp_path: Path) -> None:
    paths = [tmp_path / "first.txt", tmp_path / "second.txt"]
    for path in paths:
        with pytest.raises(FileExistsError) as raised, atomic_write_all(paths) as temporaries:
            temporaries[paths.index(path)].mkdir()
            temporaries[paths.index(path)].mkdir()
        assert f"could not write {path}: " in str(raised.value)
    with pytest.raises(FileNotFoundError) as raised, atomic_write_all(paths):
        (tmp_path / "input.txt").read_text()
    assert raised.value.filename == str(tmp_path / "input.txt")
    assert list(tmp_path.iterdir()) == []


@contextmanager
def process_that_writes(path: Path) -> Iterator[int]:
    """A process in the middle of writing a file, until it is killed or this process ends."""
    begun, begin = os.pipe()
    ending, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        with atomic_write(path) as temporary:
            (temporary / "data").mkdir(parents=True)
            os.write(begin, b"!")
            os.read(ending, 1)  # until no process has the other end
            os._exit(0)
    os.read(begun, 1)
    try:
        yield child
    finally:
        for descriptor in (begun, begin, ending, end):
            os.close(descriptor)


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_leftovers_of_a_killed_process_are_removed_by_the_next_call(tmp_path: Path) -> None:
    (tmp_path / ".p.settings").mkdir()
    (tmp_path / ".p.settings" / "mine").touch()
    with process_that_writes(tmp_path / "p") as child:
        with atomic_write(tmp_path / "p") as temporary:
            temporary.touch()
        assert len(list(tmp_path.glob(".p.*"))) == 2, "the other process is still writing"
        kill(child)
        with atomic_write(tmp_path / "p") as temporary:
            temporary.touch()
    assert [path.name for path in tmp_path.glob(".p.*")] == [".p.settings"]


@pytest.mark.parametrize("last_step", ["open", "flock"])
def test_a_process_that_stops_before_it_locks_its_folder_makes_another(
    last_step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile another process takes the folder for a leftover."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stops = []
    module = {"open": os, "flock": files.fcntl}[last_step]
    step = getattr(module, last_step)

    def stop_once(*arguments: Any, **options: Any) -> Any:
        if not stops:
            stops.append(list(tmp_path.iterdir()))
            for folder in tmp_path.glob("*/"):
                os.utime(folder, (0, 0))  # a stop of many years
            with atomic_write(tmp_path / "p") as temporary:
                temporary.write_text("other")
            with temporary_folder("elmo_test_"):
                pass
        return step(*arguments, **options)

    monkeypatch.setattr(module, last_step, stop_once)
    with atomic_write(tmp_path / "p") as temporary:
        temporary.write_text("mine")
        assert (tmp_path / "p").read_text() == "other"
    assert (tmp_path / "p").read_text() == "mine"
    stops.clear()
    with temporary_folder("elmo_test_") as folder:
        assert folder.is_dir()
        assert [folder] != stops[0], "the first one is gone"
    assert list(tmp_path.iterdir()) == [tmp_path / "p"]


def test_a_lock_of_a_killed_process_is_free_although_a_child_of_it_lives(tmp_path: Path) -> None:
    """Workers of a data loader notice late, or never, that their process was killed."""
    begun, begin = os.pipe()
    ending, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        with locked(tmp_path / "lock"):
            if os.fork() == 0:
                os.write(begin, b"!")
            os.read(ending, 1)  # until the test has ended
            os._exit(0)
    os.read(begun, 1)
    kill(child)
    with locked(tmp_path / "lock"):
        pass
    for descriptor in (begun, begin, ending, end):
        os.close(descriptor)


def test_a_lock_is_awaited_while_its_process_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SECONDS_TO_END", 100)
    is_locked, is_free = threading.Event(), threading.Event()

    def hold_the_lock() -> None:
        with locked(tmp_path / "lock"):
            is_locked.set()
            time.sleep(0.1)
            is_free.set()

    other = threading.Thread(target=hold_the_lock)
    other.start()
    is_locked.wait()
    with locked(tmp_path / "lock"):
        assert is_free.is_set()
    other.join()


def test_without_locks_no_folder_is_taken_for_a_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with atomic_write(tmp_path / "a.txt") as first:
        first.write_text("first")
        with atomic_write(tmp_path / "a.txt") as second:
            second.write_text("second")
    assert (tmp_path / "a.txt").read_text() == "first"
    with temporary_folder("elmo_test_") as folder, temporary_folder("elmo_test_"):
        assert folder.is_dir()
