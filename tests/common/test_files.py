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
