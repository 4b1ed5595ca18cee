"""The command line of `elmo`: parsers that suggest the nearest name, and the list of commands."""

import argparse
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import NoReturn

from elmo_plugin import __version__
from elmo_plugin.commands.command import COMMANDS, GROUPS, Command
from elmo_plugin.commands.options import OPTIONAL_VALUES, add_loudness
from elmo_plugin.common.meanings import meant_name
from elmo_plugin.common.streams import show, visible

EPILOG = (
    "`elmo help COMMAND` has the arguments of a command. `allennlp elmo-COMMAND` is the same "
    "command. AllenNLP knows it in a folder whose file .allennlp_plugins has the line "
    "elmo_plugin.plugin, such as one that `elmo new` writes. Exit status: 0; 1 if the work "
    "failed; 2 for a wrong command line or file; 130 for Ctrl-C."
)


class CommandParser(argparse.ArgumentParser):
    """A parser that knows no abbreviations, and names the nearest of its options."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        description, epilog = (
            each if "\n" in each else _filled(each) for each in (description, epilog)
        )
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(
            prog, None, description, epilog, formatter_class=formatter, allow_abbrev=False
        )

    def parse_words(
        self, words: Sequence[str], namespace: argparse.Namespace
    ) -> argparse.Namespace:
        """Parses arguments, options anywhere among them. Exits with status 2 if they are wrong."""
        words = list(words)
        options = words[: words.index("--")] if "--" in words else words
        for number, word in enumerate(options):
            name = word.partition("=")[0]
            if self._is_unknown(name, options[number - 1] if number else ""):
                self.error(f"unknown option {name}{self._hint(name)}")
            default, is_value = OPTIONAL_VALUES.get(word, ("", bool))
            if word in OPTIONAL_VALUES and not is_value("".join(words[number + 1 : number + 2])):
                words[number] = f"{word}={default}"
        return self.parse_intermixed_args(words, namespace)

    def _is_unknown(self, name: str, before: str) -> bool:
        """
        Returns whether a word looks like an option, as `--gpu` and `-gpu` do, and is none of ours.
        """
        known = self._option_string_actions
        if " " in name or not re.match("--?[A-Za-z]", name) or name in known:
            return False
        if name.startswith("--"):
            return True
        is_value = before in known and known[before].nargs != 0
        return not is_value and (name[:2] not in known or f"-{name}" in known)

    def _hint(self, name: str) -> str:
        meant = meant_name(name, self._option_string_actions, "options", self._has)
        if meant.isupper():
            return f"; give {meant} without an option"
        if not meant and self.prog == "elmo":
            return "; options of a command stand after its name"
        return meant and f"; did you mean {meant}?"

    def _has(self, target: str) -> bool:
        """
        Returns whether all options, and arguments in capitals, of a target of the table are ours.
        """
        arguments = [action.metavar for action in self._actions if not action.option_strings]
        named = re.findall(r"-[a-z-]+|[A-Z]+", target)
        return all(name in self._option_string_actions or name in arguments for name in named)


def _filled(text: str) -> str:
    return textwrap.fill(text, 100, break_on_hyphens=False)


def make_parser(command: Command, program: str = "") -> CommandParser:
    """Returns the parser of a command, by default as `elmo NAME`."""
    examples = "".join(f"\n  {example}" for example in command.examples)
    parser = CommandParser(
        program or f"elmo {command.name}", command.description, f"examples:{examples}"
    )
    command.module.add_arguments(parser)
    add_loudness(parser, __version__)
    return parser


def parse(words: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """
    Returns the command that a command line names, and its arguments. Exits after `--help` or a
    mistake.
    """
    number = next(
        (number for number, word in enumerate(words) if not word.startswith("-")), len(words)
    )
    before, [name, *rest] = words[:number], words[number:] or ["help"]
    parser = CommandParser(
        "elmo", "ELMo on files of text.", f"{list_commands()}\n\n{_filled(EPILOG)}"
    )
    parser.usage = "elmo COMMAND [ARGUMENTS]"
    add_loudness(parser, __version__)
    args = parser.parse_words(before, argparse.Namespace())
    if name == "help":
        (_command(parser, rest[0]) if rest else parser).print_help()
        sys.exit()
    command_parser = _command(parser, name)
    return COMMANDS[name], command_parser.parse_words(rest, args)


def _command(parser: CommandParser, name: str) -> CommandParser:
    if name in COMMANDS:
        return make_parser(COMMANDS[name])
    meant = meant_name(name, COMMANDS, "commands", bool)
    words = [*meant.removeprefix("elmo ").split(), ""]
    (make_parser(COMMANDS[words[0]]) if words[0] in COMMANDS else parser).print_usage(sys.stderr)
    hint = f"did you mean {meant}?" if meant else "`elmo help` lists them"
    fail(f"elmo: unknown command {name}; {hint}", 2)


def list_commands() -> str:
    """Returns the commands in their groups, with a line for each."""
    lines = []
    for title, names in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {name:12}{COMMANDS[name].summary}" for name in names)]
    return "\n".join(lines[1:])


def fail(message: object, status: int) -> NoReturn:
    """Prints a message, and raises the `SystemExit` with it."""
    show(message, file=sys.stderr)
    end = SystemExit(visible(message))
    end.code = status
    raise end
