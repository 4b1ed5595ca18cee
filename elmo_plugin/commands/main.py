"""`elmo`, or `python -m elmo_plugin`."""

import logging
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from elmo_plugin.common.streams import escape_unencodable_characters, open_missing_streams, show, visible

EPILOG = (
    "`allennlp elmo-COMMAND` is the same command. AllenNLP knows it in a folder whose file "
    ".allennlp_plugins has the line elmo_plugin.plugin, such as one that `elmo new` writes; there "
    "`allennlp --help` also lists the commands that train and evaluate."
)


class Stop:
    """
    Ctrl-C or SIGTERM: in the `with` block it raises `KeyboardInterrupt`, so that workers end and temporary
    files are removed. Before, while modules are imported, it ends the process at once.
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
            os.write(2, f"\n{' '.join(['elmo', *sys.argv[1:2]])}: stopped\n".encode(errors="replace"))
        os._exit(128 + number)  # also a forked worker; its parent prints the message

    def __enter__(self) -> None:
        self._raises = True

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):  # there is nothing left to stop
            if signal.getsignal(number) == self._handle:
                signal.signal(number, signal.SIG_IGN)


def main(arguments: Sequence[str] | None = None) -> None:
    """
    Runs a command. A user's mistake ends it with one sentence and status 1, Ctrl-C with one and status 130.
    """
    stop = Stop()
    if arguments is None:
        open_missing_streams()
        escape_unencodable_characters()
        stop.install()
    # Imported here because it takes seconds, in which Ctrl-C may come.
    import argparse

    from elmo_plugin import __version__
    from elmo_plugin.commands.command import COMMANDS, WITH_ALLENNLP, load_command
    from elmo_plugin.common.errors import BiLmError

    parser = argparse.ArgumentParser("elmo", description="ELMo on files of text.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"elmo_plugin {__version__}")
    verbosity = parser.add_mutually_exclusive_group()
    verbosity.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    verbosity.add_argument("--verbose", action="store_true", help="log progress")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    parsers = {
        name: commands.add_parser(name, help=f"{about} (needs AllenNLP)" if name in WITH_ALLENNLP else about)
        for name, about in COMMANDS.items()
    }
    words = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in words if not word.startswith("-")), "")
    if name not in COMMANDS:
        parser.parse_args(words)  # prints the list of commands, or the version, and ends
    if name in WITH_ALLENNLP:
        from elmo_plugin.archives import import_all_plugins

        try:
            import_all_plugins(f"elmo {name}")
        except BiLmError as error:
            sys.exit(str(error))
    command = load_command(name)
    parsers[name].description = command.description
    command.add_arguments(parsers[name])
    args = parser.parse_args(words)

    logger = logging.getLogger("elmo_plugin")
    level = logger.level
    if args.verbose:
        logging.basicConfig(format="%(message)s")
    logger.setLevel(logging.ERROR if args.quiet else logging.INFO if args.verbose else level)
    try:
        with stop:
            command.execute(args)
    except BaseException as error:
        hint = command.how_to_resume(args)
        if stop.number or isinstance(error, KeyboardInterrupt):  # some libraries turn it into another error
            # On a new line: a terminal shows ^C at the cursor, as in a progress bar.
            show(f"\nelmo {name}: stopped; {hint or 'nothing was written'}", file=sys.stderr)
            sys.exit(128 + (stop.number or signal.SIGINT))
        if isinstance(error, OSError):  # such as a full disk, or a worker that was killed
            sys.exit(visible(f"elmo {name}: {error}{hint and f'; {hint}'}"))
        checks = sys.modules.get("allennlp.common.checks")
        if isinstance(error, (BiLmError, *([checks.ConfigurationError] if checks else []))):
            sys.exit(visible(f"elmo {name}: {error}"))
        raise
    finally:
        logger.setLevel(level)
