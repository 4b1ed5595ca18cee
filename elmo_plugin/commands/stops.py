"""What Ctrl-C and SIGTERM do to `elmo`: one sentence and status 130 or 143, whenever they come.

It is imported before anything else, so it imports little.
"""

import os
import signal
import sys
import threading
from functools import partial
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SECONDS = 0.01  # after which a lost interrupt is raised again


def end_imports_at_once() -> None:
    """
    Makes Ctrl-C end the process without delay until a `Stops` begins. During an import it would be raised in
    the middle of any library, which can turn it into another error. A process that a shell started to ignore
    Ctrl-C keeps ignoring it.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    command = " ".join(["elmo", *sys.argv[1:2]])
    os.write(2, f"\n{command}: stopped; nothing was written\n".encode(errors="replace"))
    os._exit(128 + number)


class Stops:
    """
    The signals that stop a command. SIGTERM acts like Ctrl-C: both raise `KeyboardInterrupt`, so that workers
    end and temporary files are removed.

    # Parameters

    is_program : `bool`
        Whether the process ends with the command. It then ignores Ctrl-C after the command has ended,
        when nothing is left to be stopped.
    """

    number = 0
    """Of the signal that came."""

    def __init__(self, is_program: bool) -> None:
        self._is_program = is_program
        self._process = os.getpid()
        self._hook = sys.unraisablehook
        self._before: dict[int, Any] = {}

    def begin(self) -> None:
        """Takes over the signals; Ctrl-C only where it is not ignored."""
        self._before = {number: signal.getsignal(number) for number in _SIGNALS}
        sys.unraisablehook = self._raise_again
        for number, handler in self._before.items():
            if number == signal.SIGTERM or handler is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def hold(self) -> None:
        """Ignores further signals while the last message is printed."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def end(self) -> None:
        """Leaves the signals as they were."""
        sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            ends = self._is_program and number == signal.SIGINT
            signal.signal(number, signal.SIG_IGN if ends else handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            os._exit(128 + number)  # of a forked worker, whose parent prints the message
        self.number = number
        raise KeyboardInterrupt

    def _raise_again(self, lost: "sys.UnraisableHookArgs") -> None:
        """Python drops what is raised where nothing can catch it, as in `__del__`."""
        if issubclass(lost.exc_type, KeyboardInterrupt) and self.number:
            # On Windows `os.kill` ends the process silently.
            again = signal.raise_signal if os.name == "nt" else partial(os.kill, self._process)
            threading.Timer(_SECONDS, again, [self.number]).start()
        else:
            self._hook(lost)
