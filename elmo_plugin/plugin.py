"""
Registers all classes and commands of this package with AllenNLP. Projects list this module in
`.allennlp_plugins`.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

# First, because it says how to install AllenNLP if that is missing.
from elmo_plugin import register

# isort: split
from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.training import Checkpointer, Trainer
from overrides import overrides

from elmo_plugin.commands.command import COMMANDS, Command
from elmo_plugin.commands.parser import CommandParser, make_parser, parse_arguments
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import ending_if_unread, escape_unencodable_characters, visible_line


class _Subparser(argparse.ArgumentParser):
    """
    The parser of a command `allennlp elmo-NAME`. It parses the arguments as `elmo NAME` does.
    """

    def __init__(self, parser: CommandParser) -> None:
        super().__init__()
        self._parser = parser

    @overrides
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        unknown: list[str] = []  # always empty, because `parse_arguments` refuses unknown arguments
        return parse_arguments(self._parser, args or []), unknown


def _register(command: Command) -> None:
    """Registers a command of `elmo` as `allennlp elmo-NAME`."""

    @Subcommand.register(f"elmo-{command.name}")
    class ElmoSubcommand(Subcommand):
        @overrides
        def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
            # AllenNLP calls it `parser`, but it is the collection of all parsers of commands.
            parsers_of_commands = parser
            parser_of_elmo = make_parser(command, program=f"allennlp {self.name}")
            parser_of_elmo.set_defaults(func=partial(_run, command))
            # `add_parser` lists the command in `allennlp --help`, but it also makes a parser. That
            # parser is replaced below: argparse offers no public way to add an existing one.
            parsers_of_commands.add_parser(self.name, help=command.summary)
            parsers_of_commands._name_parser_map[self.name] = _Subparser(parser_of_elmo)
            escape_unencodable_characters()  # here, because --help prints before `_run`
            return parser_of_elmo


@ending_if_unread()
def _run(command: Command, args: argparse.Namespace) -> None:
    """
    Runs a command. Raises `ConfigurationError` with a message of one line if the user made a
    mistake, or if a file cannot be read or written.
    """
    try:
        command.check(args)
        command.execute(args)
    except BrokenPipeError:
        raise  # `ending_if_unread` ends the command silently
    except (BiLmError, OSError) as error:
        raise ConfigurationError(visible_line(error)) from None


for command in COMMANDS.values():
    _register(command)
# If a configuration names no type of trainer or checkpointer, it gets these two: with them, a
# killed training can go on from its last checkpoint.
Trainer.default_implementation = "resumable"
Checkpointer.default_implementation = "atomic"
