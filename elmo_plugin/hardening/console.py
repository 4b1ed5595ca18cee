"""What AllenNLP's commands print: one sentence, in place of a traceback, for a user's mistake.

`sys.excepthook` prints it for errors that come out of AllenNLP's `main`, and not for those of other programs
that import this package. Bugs keep their traceback, and so does everything with `ELMO_PLUGIN_TRACEBACK=1`.
"""

import argparse
import logging
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType

from allennlp import commands
from allennlp.common import logging as allennlp_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from tqdm import tqdm

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import reason
from elmo_plugin.common.process import open_missing_streams

VARIABLE = "ELMO_PLUGIN_TRACEBACK"
PREPARE_LOGGING = allennlp_logging.prepare_global_logging
STOPS = (KeyboardInterrupt, SigTermReceived)
_JSONNET_ERRORS = ("RUNTIME ERROR: ", "STATIC ERROR: ")

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def install() -> None:
    """Makes a `SentenceHook` the `sys.excepthook`, unless it is one."""
    if not isinstance(sys.excepthook, SentenceHook):
        sys.excepthook = SentenceHook(sys.excepthook)


def prepare_global_logging(*args: object, **kwargs: object) -> None:
    """Puts the hook back, which AllenNLP replaces, and lets a log report a full disk once."""
    PREPARE_LOGGING(*args, **kwargs)  # type: ignore[arg-type]
    for handler in _file_handlers():
        handler.handleError = _LogErrorHandler(handler.baseFilename)  # type: ignore[method-assign]
    install()


def _file_handlers() -> list[logging.FileHandler]:
    return [each for each in logging.getLogger().handlers if isinstance(each, logging.FileHandler)]


class _LogErrorHandler:
    """Says once that a log cannot be written; `logging` would print a traceback for each line of it."""

    def __init__(self, file: str) -> None:
        self._file, self._is_reported = file, False

    def __call__(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if not self._is_reported and isinstance(error, OSError):
            print(f"could not write {self._file}: {reason(error)}", file=sys.stderr)
        self._is_reported = True


class SentenceHook:
    """
    Prints one sentence for a user's mistake.

    # Parameters

    fallback : `Callable`
        The hook for all other errors.
    """

    def __init__(self, fallback: Hook) -> None:
        self._fallback = fallback

    def __call__(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        frame = _frame_of_command(traceback)
        sentence = None if frame is None else _sentence(error, frame.f_locals.get("args"))
        if sentence is None or os.environ.get(VARIABLE, "0") not in ("", "0"):
            self._fallback(kind, error, traceback)
            return
        is_stop = isinstance(error, STOPS)
        if not is_stop:
            record = ("elmo_plugin", logging.ERROR, "", 0, sentence, None, (kind, error, traceback))
            for handler in _file_handlers():  # the log of a training keeps the traceback
                handler.handle(logging.LogRecord(*record))
        # A stop may come while a bar is closed, and a terminal shows ^C where the cursor was.
        line = "\n" if is_stop or getattr(tqdm, "_instances", None) else ""
        print(line + sentence, file=sys.stderr)


def is_useful(record: logging.LogRecord) -> bool:
    """Hides the note that metrics named `_…` stay out of the progress bar: models name them so on purpose."""
    return not record.getMessage().startswith('Metrics with names beginning with "_"')


def _frame_of_command(traceback: TracebackType | None) -> FrameType | None:
    """Returns the frame of AllenNLP's `main`, if the error came out of it."""
    while traceback is not None:
        if traceback.tb_frame.f_code is commands.main.__code__:
            return traceback.tb_frame
        traceback = traceback.tb_next
    return None


def _sentence(error: BaseException, args: argparse.Namespace | None) -> str | None:
    """Returns the line to print for an error, or `None` where its traceback is needed."""
    message: str | None = None
    if isinstance(error, STOPS):
        message = f"stopped; {_how_to_resume(args)}"
    elif isinstance(error, ConfigurationError | BiLmError):
        message = str(error)
    elif isinstance(error, OSError) and error.filename is not None:
        message = f"{error.filename}: {reason(error)}"
    elif isinstance(error, OSError):
        message = error.strerror or str(error)
    elif isinstance(error, RuntimeError) and str(error).startswith(_JSONNET_ERRORS):
        message = str(error)  # a mistake in a configuration, with its line
    return None if message is None else " ".join(message.split())


def _how_to_resume(args: argparse.Namespace | None) -> str:
    """Says what a stopped command has kept, and which command resumes it."""
    command = _command(sys.argv[1:])
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    find_kept = getattr(args, "kept", None)  # which our own commands have
    kept = find_kept and find_kept(args)
    if kept is not None:
        return f"{kept} keeps what was done; the same command resumes it: {command}"
    if name == "train" and args is not None:
        checkpoints = sorted(Path(args.serialization_dir).glob("model_state_*.th"), key=os.path.getmtime)
        others = [each for each in sys.argv[1:] if each not in ("-f", "--force", "-r", "--recover")]
        if checkpoints:
            recover = _command([*others, "--recover"])
            return f"the last checkpoint is {checkpoints[-1]}; {recover} resumes it"
        again = _command([*others, "--force"])
        return f"there is no checkpoint yet in {args.serialization_dir}; {again} starts again"
    output = getattr(args, "output_file", None)
    if output and getattr(args, "output_is_new", False) and os.path.exists(output):
        return f"{output} has what was predicted so far; {command} starts again"
    return f"nothing was written; {command} starts again"


def _command(arguments: list[str]) -> str:
    return shlex.join(["allennlp", *arguments])


open_missing_streams()
allennlp_logging.prepare_global_logging = prepare_global_logging
logging.getLogger("allennlp.training.util").addFilter(is_useful)
install()
