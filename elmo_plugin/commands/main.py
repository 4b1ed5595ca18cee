"""`elmo`, or `python -m elmo_plugin`."""

import argparse
import signal
import sys
from collections.abc import Sequence

from elmo_plugin import __version__
from elmo_plugin.commands.command import COMMANDS, WITH_ALLENNLP, Command, load_command
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.plugins import import_all_plugins

EPILOG = (
    "`allennlp elmo-COMMAND` is the same command. AllenNLP knows it in a folder whose file "
    ".allennlp_plugins has the line elmo_plugin.plugin, such as one that `elmo new` writes; there "
    "`allennlp --help` lists those that train and evaluate, too."
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command. A user's mistake ends it with one sentence and status 1."""
    parser = argparse.ArgumentParser("elmo", description="ELMo on files of text.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"elmo_plugin {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    parsers = {
        name: commands.add_parser(name, help=f"{about} (needs AllenNLP)" if name in WITH_ALLENNLP else about)
        for name, about in COMMANDS.items()
    }
    given = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in given if not word.startswith("-")), "")
    if name not in COMMANDS:
        parser.parse_args(given)  # which ends with the list of commands, or the version
    command = _load(name)
    parsers[name].description = command.description
    command.add_arguments(parsers[name])
    args = parser.parse_args(given)
    before = signal.getsignal(signal.SIGTERM)
    try:
        # SIGTERM ends it as Ctrl-C does: workers end, and temporary files go.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        command.execute(args)
    except _mistakes() as error:
        sys.exit(f"elmo {name}: {error}")
    except KeyboardInterrupt:
        kept = command.kept(args)
        how = f"{kept} keeps what was done, and the same command goes on" if kept else "nothing was written"
        sys.exit(f"elmo {name}: stopped; {how}")
    finally:
        signal.signal(signal.SIGTERM, before)


def _load(name: str) -> Command:
    """Imports a command, after the plugin and the user's own plugins if it needs AllenNLP."""
    if name in WITH_ALLENNLP:
        try:
            import_all_plugins(f"elmo {name}")
        except BiLmError as error:
            sys.exit(str(error))
    return load_command(name)


def _mistakes() -> tuple[type[Exception], ...]:
    """Returns the errors that are a user's mistake. AllenNLP's is one only where AllenNLP was imported."""
    checks = sys.modules.get("allennlp.common.checks")
    return (BiLmError, OSError, *([checks.ConfigurationError] if checks else []))
