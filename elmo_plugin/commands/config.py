"""`elmo config`: where the Jsonnet library is."""

import argparse
from pathlib import Path

from elmo_plugin.commands.command import Command

LIBRARY = Path(__file__).parents[1] / "jsonnet"
"""The folder of `ner.libsonnet`, `elmo.libsonnet` and the others, of which configurations are made."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the command has no options."""


def run(args: argparse.Namespace) -> None:
    """Prints the folder."""
    print(LIBRARY)


COMMAND = Command(
    description="Print the folder of the Jsonnet library. Copy it into your project as lib, so that a "
    "configuration there can import 'lib/ner.libsonnet'; elmo new does this.",
    add_arguments=add_arguments,
    run=run,
)
