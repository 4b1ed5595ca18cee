"""`elmo library`: prints the folder of the Jsonnet library."""

import argparse

from elmo_plugin.commands.new import LIBRARY
from elmo_plugin.common.streams import show


def run(args: argparse.Namespace) -> None:
    show(LIBRARY)
