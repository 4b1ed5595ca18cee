"""Notes whatever a process opens outside of some folders, connects to, or starts."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STARTS = {"os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn", "subprocess.Popen"}
_CONNECTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
_WRITES = {"os.mkdir", "os.rename", "os.symlink", "os.link"}
_INSTALLED = [
    sys.prefix,
    sys.base_prefix,
    sys.pycache_prefix or sys.prefix,
    str(Path(__file__).parents[2] / "elmo_plugin"),
    "/proc",
    "/dev",
]


class Watch:
    """
    Calls `found` for each audit event of this process that an archive must not cause, from now on; files
    below `folders`, of Python, and of what is installed may be opened.
    """

    def __init__(self, folders: list[Path]) -> None:
        self.found: list[str] = []
        self._inside = tuple(f"{os.path.realpath(each)}{os.sep}" for each in [*folders, *_INSTALLED])
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _STARTS | _CONNECTS:
            self.found.append(f"{event} {arguments!r:.200}")
        elif event == "open" or event in _WRITES:
            path = arguments[0]
            if isinstance(path, bytes | str | os.PathLike):
                whole = os.path.realpath(os.fsdecode(path))
                if not f"{whole}{os.sep}".startswith(self._inside):
                    self.found.append(f"{event} {whole}")

    def during(self, work: Callable[[], object]) -> tuple[list[str], str]:
        """Does the work; returns what was noted, and its error."""
        self.found = []
        error = ""
        try:
            work()
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        except SystemExit as raised:
            error = f"SystemExit: {raised}"
        return self.found, error
