"""Runs work in copies of this process, which has imported everything: a start takes milliseconds."""

import logging
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

SECONDS = 20  # that a case may take
MEMORY = 6 * 2**30  # bytes of addresses that it may take beyond what this process has


class Ended(NamedTuple):
    """
    status: of the process; negative for the signal that ended it
    error: what it wrote to its standard error
    timed_out: whether it had to be killed
    """

    status: int
    error: str
    timed_out: bool = False

    @property
    def last_line(self) -> str:
        lines = [line for line in self.error.splitlines() if line.strip()]
        return lines[-1] if lines else ""


class Forked:
    """
    A copy of this process that does the work, and ends as a program does: with status 0, or with an error
    that `sys.excepthook` shows. Its working directory is `folder`.
    """

    def __init__(self, work: Callable[[], object], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        sys.stdout.flush()
        sys.stderr.flush()
        self._error, error = os.pipe()
        self._said: list[bytes] = []
        begun, begins = os.pipe()
        self.number = os.fork()
        if self.number == 0:
            status = 99
            try:
                status = _child(work, folder, error, begins)
            finally:
                os._exit(status)
        os.close(error)
        os.close(begins)
        os.read(begun, 1)  # a signal must not come before the work has begun
        os.close(begun)

    def wait(self, seconds: float = SECONDS) -> Ended:
        """Waits for its end, and kills it where that does not come in time."""
        deadline = time.monotonic() + seconds
        timed_out = False
        while True:
            rest = max(deadline - time.monotonic(), 0)
            if not select.select([self._error], [], [], rest)[0]:
                timed_out = True
                os.kill(self.number, signal.SIGKILL)
                break
            said = os.read(self._error, 1 << 16)
            if not said:  # nobody can write any more
                break
            self._said.append(said)
        os.close(self._error)
        _, status = os.waitpid(self.number, 0)
        error = b"".join(self._said).decode(errors="replace")
        return Ended(os.waitstatus_to_exitcode(status), error, timed_out)


def _child(work: Callable[[], object], folder: Path, error: int, begins: int) -> int:
    os.dup2(error, 2)
    os.close(error)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.dup2(1, 0)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(folder)
    logging.getLogger().handlers.clear()  # what earlier trainings of this process have put there
    logging.basicConfig(level=logging.WARNING)
    os.close(begins)
    try:
        work()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        with suppress(BaseException):
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0
