"""`elmo`, or `python -m elmo_plugin`."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from elmo_plugin.common.streams import (
    ending_unread,
    escape_unencodable_characters,
    is_unread,
    open_missing_streams,
)


class Stop:
    """
    Ctrl-C or SIGTERM: in the `with` block it raises `KeyboardInterrupt`, so that workers end and
    temporary files are removed. Before, while modules are imported, it ends the process at once.
    """

    number = 0
    """The signal that came in the block."""

    def __init__(self) -> None:
        self._process, self._raises = os.getpid(), False

    def install(self) -> None:
        """Handles the signals, except those that a shell started this process to ignore."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() == self._process:
            if self._raises:
                self.number = number
                raise KeyboardInterrupt
            os.write(
                2, f"\n{' '.join(['elmo', *sys.argv[1:2]])}: stopped\n".encode(errors="replace")
            )
        os._exit(128 + number)  # also a forked worker; its parent prints the message

    def __enter__(self) -> None:
        self._raises = True

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):  # there is nothing left to stop
            if signal.getsignal(number) == self._handle:
                signal.signal(number, signal.SIG_IGN)


@ending_unread()
def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command, with the exit status that `EPILOG` of the parser lists; 143 for SIGTERM."""
    stop = Stop()
    if arguments is None:
        open_missing_streams()
        escape_unencodable_characters()
        stop.install()
    # Imported here because it takes a moment, in which Ctrl-C may come.
    from elmo_plugin.commands.parser import fail, parse
    from elmo_plugin.common.errors import BiLmError

    command, args = parse(sys.argv[1:] if arguments is None else arguments)
    name = f"elmo {command.name}"
    try:
        command.check(args)
        command.load()
        with stop:
            command.execute(args)
        if stop.number:  # a destructor has swallowed the exception
            fail(f"\n{name}: all was written before it could be stopped", 128 + stop.number)
    except BaseException as error:
        hint = command.how_to_resume(args)
        if stop.number or isinstance(
            error, KeyboardInterrupt
        ):  # some libraries turn it into another error
            # On a new line: a terminal shows ^C at the cursor, as in a progress bar.
            fail(
                f"\n{name}: stopped; {hint or 'nothing was written'}",
                128 + (stop.number or signal.SIGINT),
            )
        if isinstance(error, BrokenPipeError) and is_unread():
            raise
        if isinstance(error, OSError):  # such as a full disk, or a worker that was killed
            fail(f"{name}: {error}{hint and f'; {hint}'}", 1)
        checks = sys.modules.get("allennlp.common.checks")
        if isinstance(error, (BiLmError, *([checks.ConfigurationError] if checks else []))):
            is_missing_package = isinstance(error.__context__, ImportError)
            fail(f"{name}: {error}", 1 if is_missing_package else 2)
        raise
