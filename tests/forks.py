"""Runs work in copies of this process, which has imported everything: a start takes milliseconds."""

import logging
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

SECONDS = 20  # of processor time that a case may take
# How much longer it may take on a busy machine, or if it waits for something.
WAITING = 10
MEMORY = 6 * 2**30  # bytes of addresses that it may take beyond what this process has


class Ended(NamedTuple):
    """
    status: of the process; negative for the signal that ended it, as SIGKILL after too long, and
        SIGXCPU after too much processor time
    error: what it wrote to its standard error
    """

    status: int
    error: str

    @property
    def last_line(self) -> str:
        lines = [line for line in self.error.splitlines() if line.strip()]
        return lines[-1] if lines else ""


def run_forked(work: Callable[[], object], folder: Path, seconds: float = SECONDS) -> Ended:
    """
    Does the work in a copy of this process, which ends as a program does: with status 0, or with an
    error that `sys.excepthook` shows. Its working directory is `folder`. `seconds` are those of
    processor time that it may take, as the time on a clock also depends on other processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    number = os.fork()
    if number == 0:
        status = 99
        try:
            status = _child(work, folder, writer, seconds)
        finally:
            os._exit(status)
    os.close(writer)
    said, deadline = b"", time.monotonic() + WAITING * seconds
    is_done = False
    try:
        while select.select([reader], [], [], max(deadline - time.monotonic(), 0))[0]:
            part = os.read(reader, 1 << 16)
            if not part:  # nobody can write any more
                is_done = True
                break
            said += part
    finally:
        if not is_done:
            os.kill(number, signal.SIGKILL)
        os.close(reader)
    return Ended(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), said.decode(errors="replace"))


def _child(work: Callable[[], object], folder: Path, error: int, seconds: float) -> int:
    os.dup2(error, 2)
    os.close(error)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    sys.stdout, sys.stderr = (
        os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2)
    )
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(folder)
    logging.getLogger().handlers.clear()  # what earlier trainings of this process have put there
    try:
        work()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        with suppress(BaseException):
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0


def ends_well_in_a_fork(work: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Whether a forked process does the work in time, without an error."""
    return run_forked(work, Path.cwd(), seconds).status == 0
