"""Work in forked processes, which may hang."""

import os
import time
from collections.abc import Callable


def ends_well_in_a_fork(work: Callable[[], object], seconds: float = 20.0) -> bool:
    """Whether a forked process does the work in time, without an error."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (ended := os.waitpid(child, os.WNOHANG)) != (0, 0):
            return ended[1] == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False
