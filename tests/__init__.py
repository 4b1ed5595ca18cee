"""Tests. What stands here runs before they import anything, so that they compute less."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

# Threads of torch sleep while they wait for one another, and leave the core to other tests.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _ignore(hook: Callable[..., None]) -> None:
    """Stands for `sys.addaudithook`."""


# filelock registers a function that Python calls at each `id()` and at each access to a file, a
# twentieth of all that tests compute. It guards against a fork while another thread takes a lock.
_add_hook = sys.addaudithook
sys.addaudithook = _ignore
with suppress(ModuleNotFoundError):  # what reads the blocks of documents needs Python alone
    import filelock  # noqa: F401
sys.addaudithook = _add_hook
