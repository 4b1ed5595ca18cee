"""Completion of `elmo` in a shell: `elmo --print-completion bash`."""

import argparse
from collections.abc import Sequence
from typing import Any

from elmo_plugin.commands.command import load_command

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Prints the script for a shell, with the options of all commands that can be imported here, and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        try:
            import shtab
        except ImportError:
            reason = "needs the package shtab: install elmo_plugin[completion]"
            parser.exit(1, f"{parser.prog}: {option_string} {reason}\n")
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, command in action.choices.items():
                    try:
                        load_command(name).add_arguments(command)
                    except ImportError:  # AllenNLP's, where that is missing: the name alone is completed
                        continue
                    for argument in command._actions:
                        if isinstance(argument.choices, dict):  # which shtab takes for commands
                            argument.choices = list(argument.choices)
        print(shtab.complete(parser, shell=str(values)))
        parser.exit()
