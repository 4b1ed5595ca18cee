"""The commands, for `elmo NAME` and `allennlp elmo-NAME` alike."""

import argparse
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.common.files import write_json
from elmo_plugin.common.outputs import check_outputs

WITHOUT_ALLENNLP = {
    "new": "Write a project that trains a model of a task with ELMo.",
    "embed": "Write the vectors of a text to HDF5 or safetensors.",
    "export": "Export a biLM to options.json and weights.hdf5.",
    "average": "Average the weights of several trainings of a biLM.",
    "perplexity": "Perplexity of text under a biLM.",
    "neighbors": "Find the words of a text that are nearest to a word in its sentence.",
    "models": "List the models of this package, or print the path of one.",
    "demo": "Show what trained models and a biLM do, on a page of this machine.",
    "weights": "Show how much each layer of the biLM counts in trained models.",
}
WITH_ALLENNLP = {
    "port": "Change a configuration or archive of AllenNLP 0.x or 1.x for AllenNLP 2.10.1.",
    "predict": "Predict a text with a trained model, or answer a file of SQuAD.",
    "vocab": "Make the vocabulary of a biLM from text.",
    "sweep": "Train configurations with several seeds and compare them.",
    "ensemble": "Put several trained models of a task into one archive.",
    "senses": "How well a biLM's layers tell the senses of words.",
    "probe": "Probe each layer of a biLM with a linear classifier.",
    "score": "Score the output of a system as a task's official scorer does.",
}
COMMANDS = WITHOUT_ALLENNLP | WITH_ALLENNLP
"""What `--help` says about each command. The command itself is in the module of its name, as `COMMAND`."""

BILM_HELP = "tiny, base, original, …, the archive of a trained biLM, or a folder"


class OutputPath(str):
    """The `type` of an argument that is a file to be written. It is checked before the work begins."""

    def __new__(cls, path: str) -> "OutputPath":
        return super().__new__(cls, os.path.expanduser(path))  # shells do not expand --json=~/FILE


def output_paths(args: argparse.Namespace) -> list[OutputPath]:
    """Returns the values of all arguments of the type `OutputPath`."""
    return [value for value in vars(args).values() if isinstance(value, OutputPath)]


class Command(NamedTuple):
    """A command, and the head of its `--help`."""

    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Any]
    """Runs the command. Returns the content for `--json`. Raises `BiLmError` for a user's mistake."""
    resume_path: Callable[[argparse.Namespace], Path] | None = None
    """Returns the file or folder from which the same command resumes, if it is there."""
    outputs: Callable[[argparse.Namespace], Sequence[str | Path]] = output_paths
    """Returns the files that the command writes, if they are not the values of its arguments."""

    def execute(self, args: argparse.Namespace) -> None:
        """Checks the outputs, runs the command, and writes `--json`."""
        inputs = [value for value in vars(args).values() if not isinstance(value, OutputPath)]
        check_outputs(self.outputs(args), inputs)
        content = self.run(args)
        if content is not None and args.json:
            write_json(args.json, content)

    def how_to_resume(self, args: argparse.Namespace) -> str:
        """Reports the kept part of a stopped run, or an empty string."""
        path = self.resume_path and self.resume_path(args)
        if path and path.exists():
            return f"{path} keeps the finished part; the same command resumes it"
        return ""


def load_command(name: str) -> Command:
    """Imports a command. It may need torch or AllenNLP, so this takes seconds."""
    command: Command = import_module(f"elmo_plugin.commands.{name}").COMMAND
    return command


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds `--json`, for what `Command.run` returns."""
    parser.add_argument("--json", type=OutputPath, metavar="FILE", help="write the output as JSON")


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Adds `--trust`, see `load_archive`."""
    about = "let archives name any file, and any class by its module (its code runs)"
    parser.add_argument("--trust", action="store_true", help=about)


def positive_int(text: str) -> int:
    """Parses an argument that must be at least 1."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {number}")
    return number
