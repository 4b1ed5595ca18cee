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
_STANDARD_ERROR = 2  # the number of the stream for `os.write`
# Exit statuses, as the parser's `EPILOG` lists them.
_WORK_FAILED = 1
_WRONG_INPUT = 2


class Stop:
    """
    Handles Ctrl-C and SIGTERM. A signal in the `with` block raises `KeyboardInterrupt`, so that
    workers end and temporary files are removed. Before the block, while modules are imported, a
    signal ends the process at once. After the block, signals are ignored.
    """

    number = 0
    """The signal that came in the block, if any."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._is_in_block = False
        self._is_over = False

    def install(self) -> None:
        """Handles the signals, except those that a shell started this process to ignore."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Raises `KeyboardInterrupt` in the block of the main process; else ends the process."""
        is_forked_worker = os.getpid() != self._process
        if not is_forked_worker:
            if self._is_over:  # `__exit__` is about to ignore the signal
                self.number = number
                return
            if self._is_in_block:
                self.number = number
                raise KeyboardInterrupt  # so that the command can clean up
            command_line = ["elmo", *sys.argv[1:2]]  # only the command's name, if there is one
            message = f"\n{' '.join(command_line)}: stopped\n"
            # Not `print`, because the signal may have come while something else is printed.
            os.write(_STANDARD_ERROR, message.encode(errors="replace"))
        # A worker prints nothing, because the main process prints a message for all of them.
        os._exit(128 + number)

    def __enter__(self) -> None:
        self._is_in_block = True

    def __exit__(self, *_: object) -> None:
        # The work has ended. A second Ctrl-C must not disturb the last message.
        self._is_over = True
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
        Makes the process end in `_end_at_once`. This must be called before libraries are imported:
        atexit runs the last function that was registered first, so their functions still run.
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
    Runs a command, by default the one on the command line of this process. `EPILOG` in parser.py
    lists the exit statuses. In addition, the status is 143 after SIGTERM.
    """
    if arguments is not None:
        # A program has called this, and decides itself about its signals and streams.
        _run(arguments, Stop(), has_own_process=False)
        return
    open_missing_streams()
    escape_unencodable_characters()
    stop = Stop()
    stop.install()
    _run(sys.argv[1:], stop, has_own_process=True)


def run_process() -> None:
    """
    Runs the command line of this process, and lets the process end quickly. Programs that do
    anything after the command call `main` instead: here the exit status is 0 once it has succeeded.
    """
    quick_end = QuickEnd()
    quick_end.install()
    main()
    quick_end.is_done = True  # not reached after an error, because its exit status is not 0


@ending_if_unread()
def _run(arguments: Sequence[str], stop: Stop, has_own_process: bool) -> None:
    """Parses the arguments, and runs the command."""
    # Imported here because it takes a moment, in which Ctrl-C may come.
    from elmo_plugin.commands.parser import fail, parse

    command, args = parse(arguments)
    inodes_before = {}
    try:
        command.check(args)
        inodes_before = command.output_inodes(args)
        command.import_packages()
        if has_own_process:
            # What was imported stays until the end: Python need not look for garbage in it.
            gc.freeze()
        with stop:
            command.execute(args)
    except BaseException as error:
        _fail_with(command, error, stop.number, command.what_is_kept(args, inodes_before))
    if stop.number:
        # The signal came at the end of the block, or in a destructor, where Python does not pass
        # exceptions on.
        show(file=sys.stderr)
        fail(f"elmo {command.name}: all was written before it could be stopped", 128 + stop.number)


def _fail_with(command: "Command", error: BaseException, signal_number: int, hint: str) -> NoReturn:
    """
    Ends the process with a message and the status for an error. An error that neither the user nor
    the machine has caused is raised again, with its traceback.
    """
    from elmo_plugin.commands.parser import fail
    from elmo_plugin.common.errors import TOO_LITTLE_MEMORY, is_for_user, is_lack_of_memory

    # Not only by the error, because some libraries replace the `KeyboardInterrupt` with another.
    if signal_number:
        _fail_as_stopped(command, signal_number, hint)
    if isinstance(error, KeyboardInterrupt):
        _fail_as_stopped(command, signal.SIGINT, hint)
    if isinstance(error, BrokenPipeError) and is_unread():
        raise error  # `ending_if_unread` ends the process silently
    name = f"elmo {command.name}"
    if is_lack_of_memory(error):
        fail(f"{name}: {TOO_LITTLE_MEMORY}", _WORK_FAILED)
    if isinstance(error, OSError):  # such as a full disk, or a worker that was killed
        if hint:
            fail(f"{name}: {error}; {hint}", _WORK_FAILED)
        fail(f"{name}: {error}", _WORK_FAILED)
    if not is_for_user(error):
        raise error
    if isinstance(error.__context__, ImportError):
        # A package is missing: nothing is wrong with the command line or a file.
        fail(f"{name}: {error}", _WORK_FAILED)
    fail(f"{name}: {error}", _WRONG_INPUT)


def _fail_as_stopped(command: "Command", signal_number: int, hint: str) -> NoReturn:
    """Ends the process after a signal, with a message. `hint` names the part that is kept."""
    from elmo_plugin.commands.parser import fail

    # On a new line, because a terminal shows ^C at the cursor, as in a progress bar.
    show(file=sys.stderr)
    fail(f"elmo {command.name}: stopped; {hint or 'nothing was written'}", 128 + signal_number)
