"""What a process gives back to the system."""

import subprocess
import sys

import pytest

FREES_A_LARGE_TENSOR_BELOW_A_SMALL_ONE = """
import torch
from elmo_plugin.common.malloc import keep_large_blocks_apart

MEGABYTE = 2**20

def megabytes():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * 4096 / MEGABYTE

{setting}
torch.ones(24 * MEGABYTE // 4)  # freed at once; from now on the C library may keep blocks of this size
begin = megabytes()
large = [torch.ones(16 * MEGABYTE // 4) for _ in range(4)]
small = [torch.ones(16 * 1024 // 4) for _ in range(64)]
del large
print(megabytes() - begin)
"""


def megabytes_kept(setting: str) -> float:
    program = FREES_A_LARGE_TENSOR_BELOW_A_SMALL_ONE.format(setting=setting)
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_tensors_are_given_back_while_small_ones_stay() -> None:
    assert megabytes_kept("keep_large_blocks_apart()") < 10
