"""
What to type instead of a wrong command line, by the tables of `common/meanings.json`: the names
that other programs have, and ours.
"""

import argparse
import re
from collections.abc import Collection, Iterable

from elmo_plugin.common.meanings import meanings, meant_name

_SHORTEST_ABBREVIATION = len("--pre")


def advice_for_command(name: str, commands: Iterable[str]) -> str:
    """Returns a sentence on what to type instead of an unknown command, or an empty string."""
    is_text = " " in name  # as in `elmo 'Ada moved to Lisbon.'`
    if is_text:
        return _as_sentence("elmo predict ner TEXT")

    def exists(target: str) -> bool:
        return True  # the table names only commands of this package

    return _as_sentence(meant_name(name, commands, "commands", exists))


def advice_for_option(name: str, options: Collection[str], arguments: Collection[str]) -> str:
    """
    Returns a sentence on what to type instead of an unknown option of a command, or an empty
    string. `options` and `arguments` are the names that the command knows.
    """

    def exists(target: str) -> bool:
        return fits(target, options, arguments)

    meant = meant_name(name, options, "options", exists)
    if not meant and len(name) >= _SHORTEST_ABBREVIATION:
        abbreviated = [option for option in options if option.startswith(name)]
        if len(abbreviated) == 1:
            meant = abbreviated[0]
    return _as_sentence(meant)


def fits(target: str, options: Collection[str], arguments: Collection[str]) -> bool:
    """
    Returns whether a target in the table "options" fits a command with these options and arguments.
    It is a sentence, the name of an argument, or options to type.
    """
    if _is_sentence(target):
        return True  # it says something about all commands
    if _is_argument(target):
        return target in arguments
    # The target is something to type, such as `--layer N`. The command must have all its options.
    named = re.findall(r"(?<!\S)--?[a-z][a-z-]*", target)
    return all(option in options for option in named)


def _is_sentence(target: str) -> bool:
    """Returns whether a target in a table is a whole sentence for the user."""
    return target.endswith(".")


def _is_argument(target: str) -> bool:
    """Returns whether a target in a table is the name of an argument, such as TEXT."""
    return target.isupper()


def advice_for_too_many_arguments(command: str) -> str:
    """Returns a sentence on the arguments that a command takes, or an empty string."""
    return meanings()["too many arguments"].get(command, "")


def task_name(text: str, tasks: Collection[str]) -> str:
    """
    Returns `text` if it is one of `tasks`. Raises `ArgumentTypeError` otherwise, with the task that
    is probably meant.
    """
    if text in tasks:
        return text

    def exists(target: str) -> bool:
        return target in tasks

    message = f"expected one of {', '.join(tasks)}, got {text}"
    for table in ("projects", "models"):
        meant = meant_name(text, tasks, table, exists)
        if meant:
            raise argparse.ArgumentTypeError(f"{message}; did you mean {meant}?")
    raise argparse.ArgumentTypeError(message)


def _as_sentence(meant: str) -> str:
    """
    Returns a sentence that suggests `meant`, such as the name of an option. If it is a sentence
    already, or empty, it is returned unchanged.
    """
    if not meant or _is_sentence(meant):
        return meant
    if _is_argument(meant):
        return f"Give {meant} without an option."
    return f"Did you mean {meant}?"
