"""The folder of the finished parts of an output."""

from pathlib import Path

import pytest

from elmo_plugin.common import files
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.unfinished import unfinished_folder


class Stopped(Exception):
    pass


def stop_after(output: Path, *parts: str) -> None:
    """Writes these parts, and is stopped then."""
    with pytest.raises(Stopped), unfinished_folder(output, "*.part") as folder:
        for part in parts:
            (folder / part).write_text(part)
        raise Stopped


def test_parts_are_kept_until_the_block_succeeds(tmp_path: Path) -> None:
    output = tmp_path / "new" / "out.txt"
    stop_after(output, "1.part")
    with unfinished_folder(output, "*.part") as folder:
        assert [path.name for path in folder.iterdir()] == ["1.part"]
    assert list(output.parent.iterdir()) == []


def test_a_folder_without_parts_is_not_kept(tmp_path: Path) -> None:
    stop_after(tmp_path / "out.txt", "description.json")
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_was_finished_in_the_folder_is_no_obstacle(tmp_path: Path) -> None:
    for name in ("out.txt", "out[1].txt"):
        stop_after(tmp_path / name, "1.part", name)
        with unfinished_folder(tmp_path / name, "*.part") as folder:
            assert (folder / name).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "out.txt.unfinished"
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    with (
        pytest.raises(BiLmError, match=r"has a file of something else, thesis\.txt"),
        unfinished_folder(tmp_path / "out.txt", "*.part"),
    ):
        pass
    assert (folder / "thesis.txt").read_text() == "mine"


def test_a_link_in_the_place_of_the_folder_is_refused_before_work_begins(tmp_path: Path) -> None:
    for target in ("folder", "missing"):
        output = tmp_path / f"{target}.txt"
        (tmp_path / "folder").mkdir(exist_ok=True)
        link = tmp_path / f"{target}.txt.unfinished"
        link.symlink_to(tmp_path / target)
        with pytest.raises(BiLmError, match=r"is no folder"), unfinished_folder(output, "*.part"):
            pass
        assert link.is_symlink()


def test_a_file_in_the_place_of_the_folder_is_refused_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "out.txt.unfinished"
    file.write_text("mine")
    with (
        pytest.raises(BiLmError, match=r"out\.txt\.unfinished is no folder: remove it, or name"),
        unfinished_folder(tmp_path / "out.txt", "*.part"),
    ):
        pass
    assert file.read_text() == "mine"


def test_two_processes_cannot_write_one_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SECONDS_TO_END", 0)
    output = tmp_path / "out.txt"
    with (
        unfinished_folder(output, "*.part"),
        pytest.raises(BiLmError, match="another process is writing"),
        unfinished_folder(output, "*.part"),
    ):
        pass
