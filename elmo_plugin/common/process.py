"""What a process may lack at its start: standard streams, and the threads that hold its locks."""

import os
import sys
import threading


def open_missing_streams() -> None:
    """
    Gives a closed standard output or error what `/dev/null` is, as Python has `None` there. No file gets the
    number of a closed stream, so nothing that a library prints goes into a file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # has the lowest number that is free
        if number and getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the process)


class LockOfProcess:
    """
    A lock for the threads of one process, with `with`. A forked child finds it free, even where a thread that
    the child does not have held it in the parent. What it guards has to be whole at any moment.
    """

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}  # by process

    def __enter__(self) -> None:
        self._locks.setdefault(os.getpid(), threading.Lock()).acquire()

    def __exit__(self, *_: object) -> None:
        self._locks[os.getpid()].release()
