"""Locks that keep threads out, and not forked processes; memory."""

import subprocess
import sys

import pytest

from elmo_plugin.common.process import ForkSafeLock
from tests.forks import ends_well_in_a_fork


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
