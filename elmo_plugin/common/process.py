"""What a process may lack at its start: standard streams, AllenNLP's plugins, locks that are free."""

import os
import sys
import threading
from importlib import import_module

from elmo_plugin.common.errors import NEEDS_ALLENNLP, BiLmError


def open_missing_streams() -> None:
    """
    Opens the null device in place of each closed standard stream, for which Python has `None`. Otherwise the
    next file that is opened would get the stream's number, and whatever a library prints would go into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # has the lowest number that is free
        if number and getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the process)


def import_all_plugins(subject: str) -> None:
    """
    Registers the models, readers and predictors of this package, then those of the user's plugins. It takes
    seconds.

    Raises `BiLmError`, which says that `subject` needs AllenNLP, if AllenNLP is not installed.
    """
    try:
        import_module("allennlp.models")  # what needs the most of AllenNLP's own dependencies
        from allennlp.common.plugins import import_plugins
    except ModuleNotFoundError:
        raise BiLmError(f"{subject} {NEEDS_ALLENNLP}") from None
    import_module("elmo_plugin.plugin")
    import_plugins()


class LockOfProcess:
    """
    A lock for the threads of one process, with `with`. A forked child finds it free, even where a thread that
    the child does not have held it in the parent. What it guards must be valid at any moment.
    """

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}  # by process

    def __enter__(self) -> None:
        self._locks.setdefault(os.getpid(), threading.Lock()).acquire()

    def __exit__(self, *_: object) -> None:
        self._locks[os.getpid()].release()
