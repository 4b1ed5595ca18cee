"""Registers all classes and commands of this package with AllenNLP: the line for `.allennlp_plugins`."""

import argparse
from functools import partial

from elmo_plugin import register  # first, because it says how to install AllenNLP if that is missing

# isort: split
from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.training import Checkpointer, Trainer
from overrides import overrides

from elmo_plugin.commands.arguments import COMMANDS
from elmo_plugin.commands.command import Command
from elmo_plugin.commands.parser import make_parser
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import escape_unencodable_characters, visible


def _register(command: Command) -> None:
    """Registers `allennlp elmo-NAME`."""

    @Subcommand.register(f"elmo-{command.name}")
    class ElmoSubcommand(Subcommand):
        @overrides
        def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
            ours = make_parser(command, add_help=False)
            subparser = parser.add_parser(
                self.name,
                parents=[ours],
                allow_abbrev=False,
                help=command.summary,
                description=ours.description,
                epilog=ours.epilog,
                formatter_class=ours.formatter_class,
            )
            escape_unencodable_characters()  # before --help
            subparser.set_defaults(func=partial(_run, command))
            return subparser


def _run(command: Command, args: argparse.Namespace) -> None:
    try:
        command.check(args)
        command.execute(command.load(), args)
    except (BiLmError, OSError) as error:
        raise ConfigurationError(visible(error)) from None


for command in COMMANDS.values():
    _register(command)
# Of configurations that name no type: a killed training loses nothing.
Trainer.default_implementation, Checkpointer.default_implementation = "resumable", "atomic"
