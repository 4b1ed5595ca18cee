"""Where outputs go: into the target of a symlink, straight into devices and pipes, never over an input."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from elmo_plugin.common import outputs
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, atomic_write_all, write_json
from elmo_plugin.common.outputs import Output, check_outputs, named_files

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


def test_a_pipe_gets_the_content_and_stays(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_json(pipe, "x" * 200_000)
    reader.join()
    assert found == [f'"{"x" * 200_000}"\n'] and pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_pipe_that_nothing_reads_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(outputs, "SECONDS_FOR_A_READER", 0.1)
    with pytest.raises(OSError, match="nothing reads this pipe"):
        write_json(tmp_path / "pipe", 1)


def test_a_device_is_written_into_and_stays_a_device(tmp_path: Path) -> None:
    before = os.stat(os.devnull)
    (tmp_path / "link").symlink_to(os.devnull)
    for path in (os.devnull, tmp_path / "link"):
        write_json(path, [1])
    after = os.stat(os.devnull)
    assert (before.st_rdev, before.st_ino) == (after.st_rdev, after.st_ino)


@pytest.mark.parametrize("is_file", [True, False])
def test_the_standard_output_gets_the_content_between_what_is_printed(is_file: bool, tmp_path: Path) -> None:
    program = [sys.executable, "-c", STDOUT]
    file = tmp_path / "out"
    if is_file:
        with open(file, "w") as output:
            subprocess.run([*program, "/dev/stdout"], check=True, stdout=output)
            subprocess.run([*program, file], check=True, stdout=output)
        assert file.read_text() == 2 * "before\n[\n  1\n]\nafter\n"
    else:
        printed = subprocess.run([*program, "/dev/stdout"], check=True, capture_output=True, text=True).stdout
        assert printed == "before\n[\n  1\n]\nafter\n"


def test_an_input_by_any_name_is_no_output(tmp_path: Path) -> None:
    source = tmp_path / "source.json"
    source.write_text("{}")
    (tmp_path / "link").symlink_to(source)
    os.link(source, tmp_path / "hard")
    for name in ("source.json", "link", "hard", "../" + tmp_path.name + "/source.json"):
        for inputs in ([str(source)], [f"{tmp_path}/*.json"], [f"{source}:variant"], [[f"other:{source}"]]):
            with pytest.raises(BiLmError, match=r"^-o would replace .*, which is an input \(.*\); name ano"):
                check_outputs([Output("-o", tmp_path / name)], named_files(inputs))
    check_outputs([Output("-o", tmp_path / "other")], named_files([str(source), "x" * 5000, "\0", None, 1]))
    check_outputs([Output("-o", os.devnull)], [os.devnull])


def test_a_file_of_an_input_folder_is_no_output(tmp_path: Path) -> None:
    for name in ("config.json", "metrics.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(BiLmError, match="which is an input"):
        check_outputs([Output("-o", tmp_path / "metrics.json")], named_files([str(tmp_path)]))
    check_outputs([Output("-o", tmp_path / "new.json")], named_files([str(tmp_path)]))


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("new")
    with pytest.raises(BiLmError, match=r"^-p would replace .*/link, which -o writes, too"):
        check_outputs([Output("-o", tmp_path / "new"), Output("-p", tmp_path / "link")], [])
    check_outputs([Output("-o", os.devnull), Output("-p", os.devnull)], [])


def test_json_replaces_json_alone(tmp_path: Path) -> None:
    for content, is_json in ((b"", True), (b' {"a": 1}', True), (b"[1]", True), (b"\x1f\x8b\x08", False)):
        (tmp_path / "file").write_bytes(content)
        output = [Output("--json", tmp_path / "file", is_json=True)]
        if is_json:
            check_outputs(output, [])
        else:
            with pytest.raises(BiLmError, match=r"^--json would replace .*, which is not JSON"):
                check_outputs(output, [])


def test_a_folder_is_refused_by_the_option(tmp_path: Path) -> None:
    with pytest.raises(BiLmError, match=r"^-o: .* is a directory; name a file to be written$"):
        check_outputs([Output("-o", tmp_path)], [])
    with pytest.raises(OSError, match=r"could not write .*folder: Is a directory"):
        (tmp_path / "folder").mkdir()
        with atomic_write(tmp_path / "folder") as temporary:
            temporary.touch()
