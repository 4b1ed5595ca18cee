import os
import signal
import time
from pathlib import Path

import pytest

from elmo_plugin.common.files import atomic_write


def test_a_written_file_takes_its_place(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "new" / "file.txt") as temporary:
        temporary.write_text("whole")
    assert (tmp_path / "new" / "file.txt").read_text() == "whole"
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / "file.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("old")
    with pytest.raises(RuntimeError), atomic_write(tmp_path / "file.txt") as temporary:
        temporary.write_text("ha")
        raise RuntimeError
    assert (tmp_path / "file.txt").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "file.txt"]


def test_what_a_killed_process_left_is_removed_by_the_next_call_and_nothing_else(tmp_path: Path) -> None:
    read, write = os.pipe()
    if not (child := os.fork()):
        with atomic_write(tmp_path / "p") as temporary:
            (temporary / "data").mkdir(parents=True)
            os.write(write, b"!")
            time.sleep(60)
    os.read(read, 1)
    for name in (".p.settings", ".p.project1"):
        (tmp_path / name).mkdir()
    (tmp_path / ".p.settings" / "mine").touch()
    with atomic_write(tmp_path / "p") as temporary:
        temporary.touch()
    assert len(list(tmp_path.glob(".p.*"))) == 3, "the other process is still writing"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with atomic_write(tmp_path / "p") as temporary:
        temporary.touch()
    assert {path.name for path in tmp_path.glob(".p.*")} == {".p.settings", ".p.project1"}
