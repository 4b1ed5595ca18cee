"""How a command ends that cannot go on: with one sentence, not with a traceback.

`install` puts a hook in the place of `sys.excepthook`. It is for errors that nobody catches and that come
out of the `allennlp` command; those of other programs, which may import this package, are shown as ever. What
is no mistake of the user keeps its traceback, and with `ELMO_PLUGIN_TRACEBACK=1` everything does.
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

from elmo_plugin.commands import embed
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import reason

VARIABLE = "ELMO_PLUGIN_TRACEBACK"
PREPARE_LOGGING = allennlp_logging.prepare_global_logging
_OF_JSONNET = ("RUNTIME ERROR: ", "STATIC ERROR: ")
STOPS = (KeyboardInterrupt, SigTermReceived)

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def install() -> None:
    """Shows one sentence for a user's mistake in an `allennlp` command. To do so twice is harmless."""
    if not isinstance(sys.excepthook, EndingHook):
        sys.excepthook = EndingHook(sys.excepthook)
    allennlp_logging.prepare_global_logging = _prepare_logging


def _prepare_logging(*args: object, **kwargs: object) -> None:
    """AllenNLP puts a hook of its own there, for the log of a training."""
    PREPARE_LOGGING(*args, **kwargs)  # type: ignore[arg-type]
    for handler in _file_handlers():
        handler.handleError = _LogNotWritten(handler.baseFilename)  # type: ignore[method-assign]
    install()


def _file_handlers() -> list[logging.FileHandler]:
    return [each for each in logging.getLogger().handlers if isinstance(each, logging.FileHandler)]


class _LogNotWritten:
    """Says once that a log cannot be written; `logging` would show a traceback for each line of it."""

    def __init__(self, file: str) -> None:
        self._file, self._is_said = file, False

    def __call__(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if not self._is_said and isinstance(error, OSError):
            print(f"could not write {self._file}: {reason(error)}", file=sys.stderr)
        self._is_said = True


class EndingHook:
    """
    Takes the place of `sys.excepthook`.

    # Parameters

    before : `Callable`
        The hook before, which shows all that this one does not.
    """

    def __init__(self, before: Hook) -> None:
        self._before = before

    def __call__(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        frame = _frame_of_command(traceback)
        sentence = None if frame is None else _sentence(error, frame.f_locals.get("args"))
        if sentence is None or os.environ.get(VARIABLE, "0") not in ("", "0"):
            self._before(kind, error, traceback)
            return
        if not isinstance(error, STOPS):
            record = ("elmo_plugin", logging.ERROR, "", 0, sentence, None, (kind, error, traceback))
            for handler in _file_handlers():  # the log of a training keeps the traceback
                handler.handle(logging.LogRecord(*record))
        below_bars = "\n" if getattr(tqdm, "_instances", None) else ""
        print(below_bars + sentence, file=sys.stderr)


def is_users_mistake(error: BaseException) -> bool:
    """Tells whether the message of an error says all that its reader has to know."""
    return isinstance(error, ConfigurationError | BiLmError)


def _frame_of_command(traceback: TracebackType | None) -> FrameType | None:
    """Returns the frame of AllenNLP's `main`, if the error came out of it."""
    while traceback is not None:
        if traceback.tb_frame.f_code is commands.main.__code__:
            return traceback.tb_frame
        traceback = traceback.tb_next
    return None


def _sentence(error: BaseException, args: argparse.Namespace | None) -> str | None:
    """Returns what is shown of an error, in one line; `None` where only its traceback tells enough."""
    message: str | None = None
    if isinstance(error, STOPS):
        message = f"stopped; {_how_to_go_on(args)}"
    elif is_users_mistake(error):
        message = str(error)
    elif isinstance(error, OSError) and error.filename is not None:
        message = f"{error.filename}: {reason(error)}"
    elif isinstance(error, OSError):
        message = error.strerror or str(error)
    elif isinstance(error, RuntimeError) and str(error).startswith(_OF_JSONNET):
        message = str(error)  # a mistake in a configuration, with its line
    return None if message is None else " ".join(message.split())


def _how_to_go_on(args: argparse.Namespace | None) -> str:
    """Says what a command that was stopped has kept, and which command goes on."""
    command = shlex.join(["allennlp", *sys.argv[1:]])
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    kept = embed.COMMAND.kept(args) if name == "elmo-embed" and args is not None else None
    if kept is not None:
        return f"{kept} keeps what was done; the same command goes on: {command}"
    if name == "elmo-sweep" and args is not None:
        return f"{args.serialization_dir} keeps what was trained; the same command goes on: {command}"
    if name == "train" and args is not None:
        checkpoints = sorted(Path(args.serialization_dir).glob("model_state_*.th"), key=os.path.getmtime)
        if checkpoints:
            recover = command if args.recover else f"{command} --recover"
            return f"the last checkpoint is {checkpoints[-1]}; {recover.replace(' --force', '')} goes on"
        return f"there is no checkpoint yet in {args.serialization_dir}; {command} --force begins anew"
    output = getattr(args, "output_file", None)
    if name == "predict" and output:
        return f"{output} has what was predicted so far; {command} begins anew"
    return f"nothing was written; {command} begins anew"
