"""`allennlp elmo-...`: the commands of `elmo`, for who has AllenNLP."""

import argparse

from allennlp.commands.subcommand import Subcommand
from overrides import overrides

from elmo_plugin.commands.command import COMMANDS, Command
from elmo_plugin.common.errors import as_configuration_error


def register(command: Command, about: str) -> None:
    """Makes a command a subcommand of `allennlp`."""

    def run(args: argparse.Namespace) -> None:
        with as_configuration_error():
            command.run(args)

    @Subcommand.register(f"elmo-{command.name}")
    class ElmoSubcommand(Subcommand):
        @overrides
        def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
            subparser = parser.add_parser(self.name, description=command.description, help=about)
            command.add_arguments(subparser)
            subparser.set_defaults(func=run, kept=command.kept)
            return subparser


for entry in COMMANDS.values():
    register(entry.load(), entry.help)
