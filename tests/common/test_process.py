"""Processes without standard streams; locks that keep threads out, and not forked processes; memory."""

import subprocess
import sys
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


def test_it_is_free_in_a_fork_while_the_parent_has_it() -> None:
    lock = ForkSafeLock()

    def work() -> None:
        with lock:
            pass

    with lock:
        assert ends_well_in_a_fork(work)
    assert ends_well_in_a_fork(work)


LARGE = """
import numpy as np
from elmo_plugin.common.process import use_mmap_for_large_blocks

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

use_mmap_for_large_blocks()
np.ones(24 * 2**20, np.uint8)  # the C library would remember its size
before = resident()
large = [np.ones(16 * 2**20, np.uint8) for _ in range(4)]
small = [np.ones(16 * 2**10, np.uint8) for _ in range(64)]
del large
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_arrays_are_given_back_while_small_ones_stay() -> None:
    run = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 20_000_000  # without the call it is some 60 million
