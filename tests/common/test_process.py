"""Processes without standard streams; locks that keep threads out, and not forked processes."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from elmo_plugin.common.process import ForkSafeLock
from tests.forks import ends_well_in_a_fork

PROGRAM = """
import os, sys
from elmo_plugin.common.process import open_missing_streams
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


def test_one_thread_at_a_time_has_it() -> None:
    lock, inside, most = ForkSafeLock(), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with lock:
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_it_is_free_in_a_fork_while_the_parent_has_it() -> None:
    lock = ForkSafeLock()

    def work() -> None:
        with lock:
            pass

    with lock:
        assert ends_well_in_a_fork(work)
    assert ends_well_in_a_fork(work)
