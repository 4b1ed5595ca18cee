"""`elmo`, or `python -m elmo_plugin`."""

import logging
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from elmo_plugin.commands.stops import Stops, end_imports_at_once
from elmo_plugin.common.process import open_missing_streams

if TYPE_CHECKING:
    from elmo_plugin.commands.command import Command

EPILOG = (
    "`allennlp elmo-COMMAND` is the same command. AllenNLP knows it in a folder whose file "
    ".allennlp_plugins has the line elmo_plugin.plugin, such as one that `elmo new` writes; there "
    "`allennlp --help` lists those that train and evaluate, too."
)


def main(arguments: Sequence[str] | None = None) -> None:
    """
    Runs a command. A user's mistake ends it with one sentence and status 1, Ctrl-C with one and status 130.
    """
    is_program = arguments is None
    if is_program:
        open_missing_streams()
        end_imports_at_once()
    # Here, as all of this takes seconds, in which Ctrl-C may come.
    import argparse

    from elmo_plugin import __version__
    from elmo_plugin.commands.command import COMMANDS, WITH_ALLENNLP
    from elmo_plugin.commands.completion import SHELLS, PrintCompletion

    parser = argparse.ArgumentParser("elmo", description="ELMo on files of text.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"elmo_plugin {__version__}")
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    how_much.add_argument("--verbose", action="store_true", help="log what is done")
    about = "print the script that completes commands and options in a shell"
    parser.add_argument("--print-completion", action=PrintCompletion, choices=SHELLS, help=about)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    parsers = {
        name: commands.add_parser(name, help=f"{about} (needs AllenNLP)" if name in WITH_ALLENNLP else about)
        for name, about in COMMANDS.items()
    }
    given = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in given if not word.startswith("-")), "")
    if name not in COMMANDS:
        parser.parse_args(given)  # which ends with the list of commands, or the version
    command = _load(name, needs_allennlp=name in WITH_ALLENNLP)
    parsers[name].description = command.description
    command.add_arguments(parsers[name])
    args = parser.parse_args(given)
    stops = Stops(is_program)
    level = _set_log_level(quiet=args.quiet, verbose=args.verbose)
    try:
        stops.begin()
        command.execute(args)
    except BaseException as error:
        stops.hold()
        if stops.number or isinstance(error, KeyboardInterrupt):  # some libraries make another error of it
            kept = command.kept(args)
            how = "nothing was written"
            if kept:
                how = f"{kept} keeps what was done; the same command resumes it"
            # On a line of its own: a terminal shows ^C where the cursor was, as in a progress bar.
            print(f"\nelmo {name}: stopped; {how}", file=sys.stderr)
            sys.exit(128 + (stops.number or signal.SIGINT))
        if isinstance(error, _mistakes()):
            sys.exit(f"elmo {name}: {error}")
        raise
    finally:
        logging.getLogger("elmo_plugin").setLevel(level)
        stops.end()


def _set_log_level(quiet: bool, verbose: bool) -> int:
    """Makes the package log only errors, or also its progress. Returns the level that was set before."""
    logger = logging.getLogger("elmo_plugin")
    before = logger.level
    if quiet:
        logger.setLevel(logging.ERROR)
    elif verbose:
        logging.basicConfig(format="%(message)s")
        logger.setLevel(logging.INFO)
    return before


def _load(name: str, needs_allennlp: bool) -> "Command":
    """Imports a command, after the plugin and the user's own plugins if it needs AllenNLP."""
    from elmo_plugin.commands.command import load_command
    from elmo_plugin.common.errors import BiLmError

    if needs_allennlp:
        from elmo_plugin.archives import import_all_plugins

        try:
            import_all_plugins(f"elmo {name}")
        except BiLmError as error:
            sys.exit(str(error))
    return load_command(name)


def _mistakes() -> tuple[type[Exception], ...]:
    """Returns the errors that are a user's mistake. AllenNLP's is one only where AllenNLP was imported."""
    from elmo_plugin.common.errors import BiLmError

    checks = sys.modules.get("allennlp.common.checks")
    return (BiLmError, OSError, *([checks.ConfigurationError] if checks else []))
