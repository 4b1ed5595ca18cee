"""Runs commands in the tests' own process."""

import argparse

from allennlp.commands.subcommand import Subcommand

import elmo_plugin.plugin  # noqa: F401 (registers the commands)


def run(name: str, *arguments: object) -> None:
    """Runs a command as `allennlp elmo-NAME` does, without its search for plugins."""
    parser = argparse.ArgumentParser()
    Subcommand.by_name(f"elmo-{name}")().add_subparser(parser.add_subparsers())
    args = parser.parse_args([f"elmo-{name}", *map(str, arguments)])
    args.func(args)
