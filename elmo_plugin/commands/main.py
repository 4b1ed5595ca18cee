"""`elmo`, or `python -m elmo_plugin`: the commands that need no AllenNLP."""

import argparse
import signal
import sys
from collections.abc import Sequence

from elmo_plugin import __version__
from elmo_plugin.commands.command import COMMANDS
from elmo_plugin.common.errors import BiLmError

EPILOG = "`allennlp --help` lists the commands that train and evaluate task models, as elmo-..."


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command that the arguments name. A user's mistake ends it with one sentence, and status 1."""
    parser = argparse.ArgumentParser("elmo", description="ELMo on files of text.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"elmo_plugin {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    parsers = {name: commands.add_parser(name, help=entry.help) for name, entry in COMMANDS.items()}
    given = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in given if not word.startswith("-")), "")
    if name not in COMMANDS:
        parser.parse_args(given)  # which ends with the list of commands, or the version
    command = COMMANDS[name].load()
    parsers[name].description = command.description
    command.add_arguments(parsers[name])
    args = parser.parse_args(given)
    before = signal.getsignal(signal.SIGTERM)
    try:
        # SIGTERM ends it as Ctrl-C does: workers end, and temporary files go.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        command.run(args)
    except (BiLmError, OSError) as error:
        sys.exit(f"elmo {command.name}: {error}")
    except KeyboardInterrupt:
        kept = command.kept(args)
        how = f"{kept} keeps what was done, and the same command goes on" if kept else "nothing was written"
        sys.exit(f"elmo {command.name}: stopped; {how}")
    finally:
        signal.signal(signal.SIGTERM, before)
