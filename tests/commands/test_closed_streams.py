"""`elmo embed` without a standard input, output or error."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY


def run(source: str, closed: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    (folder / "text.txt").write_text("the cat sat\n")
    shell = f'"$0" -m elmo_plugin embed {source} {folder}/out.hdf5 --top --bilm tiny --threads 1 {closed}'
    return subprocess.run(["sh", "-c", shell, sys.executable], cwd=REPOSITORY, capture_output=True, text=True)


@pytest.mark.slow
def test_a_closed_standard_input_is_no_empty_text(tmp_path: Path) -> None:
    ended = run("-", "0<&-", tmp_path)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr
    assert ended.stderr.endswith("\nelmo embed: standard input is closed\n")
    assert not (tmp_path / "out.hdf5").exists()
