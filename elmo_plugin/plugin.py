"""Registers all classes and commands of this package with AllenNLP: the line for `.allennlp_plugins`."""

import argparse
from functools import partial

from elmo_plugin import register  # first, because it says how to install AllenNLP if that is missing

# isort: split
from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.commands.command import COMMANDS, Command, load_command
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import escape_unencodable_characters, visible


def _register(name: str) -> None:
    """Registers `allennlp elmo-NAME`."""
    command = load_command(name)

    @Subcommand.register(f"elmo-{name}")
    class ElmoSubcommand(Subcommand):
        @overrides
        def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
            subparser = parser.add_parser(self.name, description=command.description, help=COMMANDS[name])
            command.add_arguments(subparser)
            escape_unencodable_characters()  # before --help
            subparser.set_defaults(func=partial(_run, command))
            return subparser


def _run(command: Command, args: argparse.Namespace) -> None:
    try:
        command.execute(args)
    except (BiLmError, OSError) as error:
        raise ConfigurationError(visible(error)) from None


for name in COMMANDS:
    _register(name)
