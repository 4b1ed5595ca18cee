"""The process of a command ends at once when its work is done, and in Python's way otherwise."""

import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

PROGRAM = """
import atexit
import sys

from elmo_plugin.commands.main import run_process

sys.argv = ["elmo", *sys.argv[1:]]
atexit.register(print, "a function registered before")
try:
    run_process()
finally:
    atexit.register(print, "a function registered later")
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )


def test_a_command_that_has_done_its_work_ends_at_once() -> None:
    done = run("models")
    assert done.returncode == 0, done.stderr
    # What is printed to a pipe is in a buffer, which must be written before the end.
    assert done.stdout.endswith("\na function registered later\n")
    assert "biLM" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "status"), [(("models", "--absent"), 2), (("models", "--help"), 0)]
)
def test_a_command_that_has_nothing_to_do_ends_in_pythons_way(
    arguments: tuple[str, ...], status: int
) -> None:
    done = run(*arguments)
    assert done.returncode == status
    ends = done.stdout.splitlines()[-2:]
    assert ends == ["a function registered later", "a function registered before"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_an_error() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "elmo_plugin", "models"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        )
    assert done.returncode != 0
    assert "No space left on device" in done.stderr


def test_a_program_that_calls_main_keeps_its_own_exit_status() -> None:
    program = """
import sys

from elmo_plugin.commands.main import main

sys.argv = ["elmo", "models"]
main()
sys.exit(3)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 3
