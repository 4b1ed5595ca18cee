"""Processes without standard streams."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
from elmo_plugin.common.streams import open_missing_streams
open_missing_streams()
with open(sys.argv[1], "w") as file:
    assert file.fileno() > 2
    print("lost or shown", file=sys.stderr, flush=True)
    print("lost or shown", flush=True)
    os.write(1, b"by a library"), os.write(2, b"by a library")
"""


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_what_is_printed_into_closed_streams_goes_nowhere(closed: str, tmp_path: Path) -> None:
    shell = f'"$0" -c "$1" "$2" {closed}'
    arguments = ["sh", "-c", shell, sys.executable, PROGRAM, tmp_path / "file"]
    ended = subprocess.run(arguments, capture_output=True)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "file").read_text() == ""
