"""A test that hangs ends, and shows where."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, SLOW_TEST_SECONDS

TESTS = """
import threading

import pytest

def wait_in_a_thread(event):
    event.wait()

def test_that_hangs():
    event = threading.Event()
    threading.Thread(target=wait_in_a_thread, args=[event], daemon=True).start()
    event.wait()

@pytest.mark.slow
def test_that_is_slow(request):
    assert request.node.get_closest_marker("timeout").args == (SECONDS,)
"""


@pytest.mark.slow
def test_a_test_that_hangs_fails_with_the_stacks_of_all_threads(tmp_path: Path) -> None:
    file = tmp_path / "test_hanging.py"
    file.write_text(TESTS.replace("SECONDS", str(SLOW_TEST_SECONDS)))
    program = [sys.executable, "-m", "pytest", "-c", "setup.cfg", "-p", "tests.conftest", "-n", "0", "--slow"]
    program += ["-o", "timeout=1", "-p", "no:cacheprovider", str(file)]
    printed = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True, timeout=300).stdout
    assert "1 failed, 1 passed" in printed
    assert "test_that_hangs - Failed: Timeout (>1.0s)" in printed
    assert "Stack of" in printed and ", in wait_in_a_thread\n" in printed
