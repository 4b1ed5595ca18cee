"""`elmo`, or `python -m elmo_plugin`."""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from elmo_plugin.common.streams import (
    ending_if_unread,
    escape_unencodable_characters,
    is_unread,
    open_missing_streams,
    show,
)

if TYPE_CHECKING:
    from elmo_plugin.commands.command import Command

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """
    Ctrl-C or SIGTERM. In the `with` block it raises `KeyboardInterrupt`, so that workers end and
    temporary files are removed. Before the block, while modules are imported, it ends the process
    at once.
    """

    number = 0
    """The signal that came in the block, if any."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._raises = False

    def install(self) -> None:
        """Handles the signals, except those that a shell started this process to ignore."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Ends the process; in the block, by an exception that the command can clean up after."""
        if os.getpid() == self._process:
            if self._raises:
                self.number = number
                raise KeyboardInterrupt
            name = " ".join(["elmo", *sys.argv[1:2]])
            # Not `print`, because the signal may have come while something else is printed.
            os.write(2, f"\n{name}: stopped\n".encode(errors="replace"))
        # Nothing is cleaned up. A worker that was forked from this process also ends here, but
        # without a message, because its parent prints one.
        os._exit(128 + number)

    def __enter__(self) -> None:
        self._raises = True

    def __exit__(self, *_: object) -> None:
        # The work has ended. A second Ctrl-C must not disturb the last message.
        for number in _SIGNALS:
            if signal.getsignal(number) == self._handle:
                signal.signal(number, signal.SIG_IGN)


class QuickEnd:
    """
    Ends a process that has done its work, without the destructors of torch's libraries: they take
    half a second, and as much memory as the models of this package.
    """

    is_done = False
    """Whether the process has done its work, so that its exit status is 0."""

    def install(self) -> None:
        """
        Makes the process end in `_end_at_once`. atexit calls functions in the opposite order of
        their registration, so those of libraries that are imported later still run.
        """
        atexit.register(self._end_at_once)

    def _end_at_once(self) -> None:
        """Ends the process at once if it has done its work."""
        if self.is_done:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


def main(arguments: Sequence[str] | None = None) -> None:
    """
    Runs a command. The exit status is 143 after SIGTERM, and else one that the parser's `EPILOG`
    lists.
    """
    if arguments is not None:
        # A program has called this. Its signals, its streams and its end are its own.
        _run(arguments, Stop(), has_own_process=False)
        return
    open_missing_streams()
    escape_unencodable_characters()
    stop = Stop()
    stop.install()
    _run(sys.argv[1:], stop, has_own_process=True)


def run_process() -> None:
    """
    Runs a command as `main` does, as all that the process does. A program that does more calls
    `main`: after this function, its process ends with status 0, whatever it does.
    """
    quick_end = QuickEnd()
    quick_end.install()
    main()
    quick_end.is_done = True  # only from here on, because an error needs its exit status


@ending_if_unread()
def _run(arguments: Sequence[str], stop: Stop, has_own_process: bool) -> None:
    """Parses the arguments, and runs the command."""
    # Imported here because it takes a moment, in which Ctrl-C may come.
    from elmo_plugin.commands.parser import fail, parse

    command, args = parse(arguments)
    try:
        command.check(args)
        command.load()
        if has_own_process:
            # What was imported stays until the end: Python need not look for garbage in it.
            gc.freeze()
        with stop:
            command.execute(args)
        if stop.number:  # a destructor has swallowed the exception
            show(file=sys.stderr)
            fail(
                f"elmo {command.name}: all was written before it could be stopped",
                128 + stop.number,
            )
    except BaseException as error:
        _fail_with(command, error, stop.number, command.how_to_resume(args))


def _fail_with(command: "Command", error: BaseException, signal_number: int, hint: str) -> NoReturn:
    """
    Ends the process with a message and the status for an error. An error that neither the user nor
    the machine has caused is raised again, with its traceback.
    """
    from elmo_plugin.commands.parser import fail
    from elmo_plugin.common.errors import TOO_LITTLE_MEMORY, is_lack_of_memory

    name = f"elmo {command.name}"
    # Some libraries replace the interrupt with another error, so the signal counts as well.
    if signal_number or isinstance(error, KeyboardInterrupt):
        status = 128 + (signal_number or signal.SIGINT)
        # On a new line, because a terminal shows ^C at the cursor, as in a progress bar.
        show(file=sys.stderr)
        fail(f"{name}: stopped; {hint or 'nothing was written'}", status)
    if isinstance(error, BrokenPipeError) and is_unread():
        raise error  # `ending_if_unread` ends the process silently
    if is_lack_of_memory(error):
        fail(f"{name}: {TOO_LITTLE_MEMORY}", 1)
    if isinstance(error, OSError):  # such as a full disk, or a worker that was killed
        if hint:
            fail(f"{name}: {error}; {hint}", 1)
        fail(f"{name}: {error}", 1)
    if not _is_mistake(error):
        raise error
    if isinstance(error.__context__, ImportError):
        fail(f"{name}: {error}", 1)  # a package is missing
    fail(f"{name}: {error}", 2)


def _is_mistake(error: BaseException) -> bool:
    """Returns whether an error stands for a mistake of the user."""
    from elmo_plugin.common.errors import BiLmError

    if isinstance(error, BiLmError):
        return True
    # If AllenNLP was not imported, it has raised nothing.
    allennlp_checks = sys.modules.get("allennlp.common.checks")
    return allennlp_checks is not None and isinstance(error, allennlp_checks.ConfigurationError)
