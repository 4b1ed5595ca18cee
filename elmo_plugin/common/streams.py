"""The standard streams of a process that was started without them."""

import os
import sys


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
