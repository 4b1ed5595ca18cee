"""Registers all classes and commands of this package with AllenNLP: the line for
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
    The parser that `allennlp` calls with the arguments of a command. It parses them as `elmo` does.
    """

    def __init__(self, parser: CommandParser) -> None:
        super().__init__()
        self._parser = parser

    @overrides
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        unknown: list[str] = []  # because `parse_arguments` refuses what it does not know
        return parse_arguments(self._parser, args or []), unknown


def _register(command: Command) -> None:
    """Registers `allennlp elmo-NAME`."""

    @Subcommand.register(f"elmo-{command.name}")
    class ElmoSubcommand(Subcommand):
        @overrides
        def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
            ours = make_parser(command, program=f"allennlp {self.name}")
            ours.set_defaults(func=partial(_run, command))
            # `add_parser` lists the command in `allennlp --help`, but makes a parser of its own:
            # argparse has no public way to use a parser that exists already.
            parser.add_parser(self.name, help=command.summary)
            parser._name_parser_map[self.name] = _Subparser(ours)
            escape_unencodable_characters()  # here, because --help prints before `_run`
            return ours


@ending_if_unread()
def _run(command: Command, args: argparse.Namespace) -> None:
    """
    Runs a command. Raises `ConfigurationError`, in one line, for a mistake of the user's and for a
    file that cannot be read or written.
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
# Configurations that name no type get these, so that a killed training loses nothing.
Trainer.default_implementation = "resumable"
Checkpointer.default_implementation = "atomic"
