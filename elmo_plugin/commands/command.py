"""What a command is, whether `elmo` or `allennlp` runs it, and which there are."""

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple


class Command(NamedTuple):
    """
    # Parameters

    name : `str`
        `elmo NAME`, or `allennlp elmo-NAME`.
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
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]
    kept: Callable[[argparse.Namespace], Path | None] = lambda args: None


class Entry(NamedTuple):
    """
    A line in the list of commands. What a command needs, torch above all, takes seconds to import, so its
    module is imported when it is called.

    # Parameters

    module : `str`
        Has the command as `COMMAND`.
    help : `str`
        What the list says of it.
    """

    module: str
    help: str

    def load(self) -> Command:
        """Imports the command."""
        command: Command = import_module(self.module).COMMAND
        return command


COMMANDS = {
    "embed": Entry("elmo_plugin.commands.embed", "Write the vectors of a text to HDF5 or safetensors."),
    "export": Entry("elmo_plugin.commands.bilm.export", "Export a biLM to options.json and weights.hdf5."),
    "average": Entry(
        "elmo_plugin.commands.bilm.average", "Average the weights of several trainings of a biLM."
    ),
    "perplexity": Entry("elmo_plugin.commands.bilm.perplexity", "Perplexity of text under a biLM."),
    "neighbors": Entry(
        "elmo_plugin.commands.analysis.neighbors",
        "The words of a corpus that are the most similar to a word in its sentence.",
    ),
    "predict": Entry("elmo_plugin.commands.predict", "Show what a trained model predicts for a text."),
    "demo": Entry("elmo_plugin.commands.demo", "A page that shows what trained models and a biLM do."),
}
