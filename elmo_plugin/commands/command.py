"""What a command is, whether `elmo` or `allennlp` runs it."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Command(NamedTuple):
    """
    # Parameters

    name : `str`
        `elmo NAME`, or `allennlp elmo-NAME`.
    help : `str`
        A line for the list of commands.
    description : `str`
        What it does, for its own `--help`.
    add_arguments : `Callable`
        Adds its arguments to a parser.
    run : `Callable`
        Does it, with the arguments that were parsed. Raises `BiLmError` where the user is mistaken.
    kept : `Callable`
        Returns the file or folder in which a run that was stopped has kept its work, if there is one; then
        the same command goes on.
    """

    name: str
    help: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]
    kept: Callable[[argparse.Namespace], Path | None] = lambda args: None
