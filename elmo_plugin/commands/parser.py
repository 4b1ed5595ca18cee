"""The command line of `elmo`, read by argparse: first the name of a command, then its arguments."""

import argparse
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import NoReturn

from elmo_plugin.commands.command import COMMANDS, GROUPS, Command
from elmo_plugin.commands.options import add_verbosity_and_version
from elmo_plugin.commands.suggestions import (
    advice_for_command,
    advice_for_option,
    advice_for_too_many_arguments,
)
from elmo_plugin.common.streams import show_lines, visible_line

EPILOG = (
    "`elmo help COMMAND` explains the arguments of a command. `allennlp elmo-COMMAND` is the same "
    "command; AllenNLP knows it in a folder whose file .allennlp_plugins has the line "
    "elmo_plugin.plugin, such as a folder that `elmo new` writes. Exit status: 0 if all went well; "
    "1 if the work failed; 2 if the command line or a file is wrong; 130 after Ctrl-C."
)


class CommandParser(argparse.ArgumentParser):
    """
    A parser that answers a mistake in two lines: the mistake, and advice.

    advice: the second line for mistakes that have no special advice
    command: the name of the command, or an empty string for the parser that reads this name
    """

    def __init__(
        self, prog: str, description: str, epilog: str | None, advice: str, command: str = ""
    ) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.advice = advice
        self.command = command

    def error(self, message: str) -> NoReturn:
        """Ends the process with status 2. argparse calls it for each mistake that it finds."""
        # argparse does not say which value is missing.
        for action in self._actions:
            names = "/".join(action.option_strings)
            if message == f"argument {names}: expected one argument":
                message = f"expected {how_to_give(action)}, got no value"
        self.refuse(message)

    def refuse(self, message: str, advice: str = "") -> NoReturn:
        """Ends the process with status 2, with special advice if there is some."""
        fail(f"{self.prog}: {message}", 2, advice or self.advice)

    @property
    def options(self) -> list[str]:
        """The names of all options."""
        return [name for action in self._actions for name in action.option_strings]

    @property
    def argument_names(self) -> list[str]:
        """The names of the arguments that are no options, such as TEXT."""
        return [str(action.metavar) for action in self._actions if not action.option_strings]


def make_parser(command: Command, program: str = "") -> CommandParser:
    """Returns the parser of a command. `program` begins its messages; by default `elmo NAME`."""
    advice = f"`elmo help {command.name}` explains the arguments."
    epilog = None
    if command.examples:
        advice = f"An example is {command.examples[0]}; {advice}"
        epilog = "\n  ".join(["examples:", *command.examples])
    parser = CommandParser(
        prog=program or f"elmo {command.name}",
        description=_wrap_lines(command.description),
        epilog=epilog,
        advice=advice,
        command=command.name,
    )
    command.module.add_arguments(parser)
    add_verbosity_and_version(parser)
    arguments = []
    for action in parser._actions:
        is_positional = not action.option_strings
        if is_positional or action.required:
            arguments.append(how_to_give(action))
    parser.usage = " ".join([parser.prog, *arguments, "[options]"])
    return parser


def how_to_give(action: argparse.Action) -> str:
    """Returns how an argument is typed: `[FILE]`, `--json FILE`."""
    value = action.dest.upper()
    if action.metavar:
        value = str(action.metavar)
    elif action.choices:
        choices = ",".join(str(choice) for choice in action.choices)
        value = f"{{{choices}}}"
    if action.nargs == "?":
        value = f"[{value}]"
    elif action.nargs == "*":
        value = f"[{value} …]"
    elif action.nargs == "+":
        value = f"{value} …"
    words = []
    if action.option_strings:
        words.append(action.option_strings[-1])  # the long name
    if action.nargs != 0:  # an option that is only switched on takes no value
        words.append(value)
    return " ".join(words)


def parse(words: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """
    Returns the command that a command line names, and its arguments. Exits after `--help` or a
    mistake.
    """
    parser = _make_elmo_parser()
    line, unknown = parser.parse_known_args(words)
    if unknown:  # before the command's name, where only a few options are allowed
        name = unknown[0].partition("=")[0]
        advice = advice_for_option(name, parser.options, arguments=[])
        if not advice:
            advice = "The options of a command stand after its name."
        parser.refuse(f"unknown option {name}", advice)
    if line.command == "help" and line.words:
        make_parser(_find_command(line.words[0], parser)).print_help()
        sys.exit()
    if line.command in (None, "help"):
        parser.print_help()
        sys.exit()
    command = _find_command(line.command, parser)
    # --quiet and --verbose may stand before the command's name as well as after it.
    verbosity = argparse.Namespace(quiet=line.quiet, verbose=line.verbose)
    return command, parse_arguments(make_parser(command), line.words, verbosity)


def parse_arguments(
    parser: CommandParser, words: Sequence[str], namespace: argparse.Namespace | None = None
) -> argparse.Namespace:
    """
    Parses the arguments of a command, and adds them to a namespace. Options may stand before, after
    and between the other arguments. Exits with status 2 if an argument is wrong.
    """
    # Before argparse parses, because it would complain about missing arguments instead.
    mistyped = _find_unknown_option(words, parser.options)
    if mistyped is not None:
        advice = advice_for_option(mistyped, parser.options, parser.argument_names)
        parser.refuse(f"unknown option {mistyped}", advice)
    args, too_many = parser.parse_known_intermixed_args(words, namespace)
    if too_many:
        advice = advice_for_too_many_arguments(parser.command)
        parser.refuse(f"too many arguments: {' '.join(too_many)}", advice)
    return args


def _find_unknown_option(words: Sequence[str], options: Sequence[str]) -> str | None:
    """Returns the first word that looks like an option but is not in `options`, or `None`."""
    for word in words:
        if word == "--":
            return None  # all later words are arguments, even with a hyphen
        name, _, _ = word.partition("=")
        looks_like_option = re.fullmatch(r"--?[A-Za-z]\S*", name) is not None
        if looks_like_option and name not in options and not _is_short_with_value(name, options):
            return name
    return None


def _is_short_with_value(word: str, options: Sequence[str]) -> bool:
    """
    Returns whether a word is a short option with its value, such as `-k20`. argparse would take
    `-output` for `-o utput`, but it is `--output` with a hyphen too few.
    """
    is_long_option = word.startswith("--") or f"-{word}" in options
    return word[:2] in options and not is_long_option


def _make_elmo_parser() -> CommandParser:
    """
    Returns the parser of the whole command line. It finds the name of the command, and leaves the
    words after it to the command's own parser.
    """
    parser = CommandParser(
        prog="elmo",
        description="ELMo on files of text.",
        epilog=f"{list_commands()}\n\n{_wrap_lines(EPILOG)}",
        advice="`elmo help` lists the commands.",
    )
    parser.usage = "elmo COMMAND [ARGUMENTS]"
    add_verbosity_and_version(parser)
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _find_command(name: str, parser: CommandParser) -> Command:
    """Returns the command of a name, or exits with the command that was probably meant."""
    if name not in COMMANDS:
        parser.refuse(f"unknown command {name}", advice_for_command(name, COMMANDS))
    return COMMANDS[name]


def list_commands() -> str:
    """Returns the commands in their groups, with a line for each."""
    groups = []
    for title, names in GROUPS.items():
        lines = [f"{title}:"]
        for name in names:
            lines.append(f"  {name:12}{COMMANDS[name].summary}")
        groups.append("\n".join(lines))
    return "\n\n".join(groups)


def _wrap_lines(text: str) -> str:
    """Breaks a text into lines of at most 100 characters."""
    return textwrap.fill(text, 100, break_on_hyphens=False)


def fail(message: object, status: int, advice: str = "") -> NoReturn:
    """
    Prints a line with a message, and a second line if there is advice. Then ends the process with a
    status. Programs that call `main` may catch the `SystemExit`, so it has the text as its message.
    """
    lines = [visible_line(message)]
    if advice:
        lines.append(visible_line(advice))
    text = "\n".join(lines)
    show_lines(text, file=sys.stderr)
    end = SystemExit(text)
    end.code = status  # otherwise the status would be 1, because the argument is a text
    raise end
