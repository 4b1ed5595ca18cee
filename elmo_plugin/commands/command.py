"""What a command is, for `elmo NAME` and `allennlp elmo-NAME` alike, and which commands there are."""

import argparse
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import write_json
from elmo_plugin.common.outputs import Output, check_outputs, named_files

WITHOUT_ALLENNLP = {
    "new": "Write a project that trains a model of a task with ELMo.",
    "config": "Print the folder of the Jsonnet library.",
    "embed": "Write the vectors of a text to HDF5 or safetensors.",
    "export": "Export a biLM to options.json and weights.hdf5.",
    "average": "Average the weights of several trainings of a biLM.",
    "perplexity": "Perplexity of text under a biLM.",
    "neighbors": "Find the words of a text that are nearest to a word in its sentence.",
    "demo": "Show what trained models and a biLM do, on a page of this machine.",
    "weights": "Show how much each layer of the biLM counts in trained models.",
}
WITH_ALLENNLP = {
    "predict": "Show what a trained model predicts for a text.",
    "vocab": "Make the vocabulary of a biLM from text.",
    "sweep": "Train configurations with several seeds and compare them.",
    "ensemble": "Put several trained models of a task into one archive.",
    "senses": "How well a biLM's layers tell the senses of words.",
    "probe": "What a linear classifier finds in each layer of a biLM.",
    "score": "Score the output of a system as a task's official scorer does.",
    "answer": "Answer the questions of a file of SQuAD.",
}
COMMANDS = WITHOUT_ALLENNLP | WITH_ALLENNLP
"""What `--help` says about each command. The command itself is in the module of its name, as `COMMAND`."""

BILM_HELP = "tiny, base, original, …, the archive of a trained biLM, or a folder"


def stored_outputs(args: argparse.Namespace) -> list[Output]:
    """Returns the outputs of all options with `OutputFile`."""
    return list(getattr(args, "outputs", {}).values())


class Command(NamedTuple):
    """
    # Parameters

    description : `str`
        The head of the command's own `--help`.
    add_arguments : `Callable`
        Adds the arguments to a parser.
    run : `Callable`
        Runs the command with the parsed arguments. Returns the content for `--json`, if the command has
        `add_json`. Raises `BiLmError` for a user's mistake.
    kept : `Callable`, optional
        Returns the file or folder in which a stopped run has kept its work, from which the same command
        resumes, or `None`.
    outputs : `Callable`, optional (default = `stored_outputs`)
        Returns the files that the command writes, where they are others than its arguments name.
    """

    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Any]
    kept: Callable[[argparse.Namespace], Path | None] = lambda args: None
    outputs: Callable[[argparse.Namespace], Sequence[Output]] = stored_outputs

    def execute(self, args: argparse.Namespace) -> None:
        """Checks the outputs, runs the command, and writes `--json`."""
        stored = getattr(args, "outputs", {})
        inputs = [value for name, value in vars(args).items() if name not in stored]
        check_outputs(self.outputs(args), named_files(inputs))
        content = self.run(args)
        if content is not None and args.json:
            write_json(args.json, content)


def load_command(name: str) -> Command:
    """Imports a command. It may need torch or AllenNLP, so this takes seconds."""
    command: Command = import_module(f"elmo_plugin.commands.{name}").COMMAND
    return command


class OutputFile(argparse.Action):
    """Stores the name of a file to be written. `Command.execute` checks it before the work begins."""

    is_json = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        path = os.path.expanduser(values)  # which shells leave as it is in --json=~/FILE
        setattr(namespace, self.dest, path)
        output = Output(option_string or str(self.metavar or self.dest), path, self.is_json)
        namespace.outputs = {**getattr(namespace, "outputs", {}), self.dest: output}


class JsonFile(OutputFile):
    """An `OutputFile` in JSON, which replaces no file of another kind."""

    is_json = True


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds `--json`, for what `Command.run` returns."""
    parser.add_argument("--json", action=JsonFile, metavar="FILE", help="what is printed, as JSON")


def check_at_least_one(args: argparse.Namespace, *options: str) -> None:
    """Raises `BiLmError` if the value of one of these options, such as `--batch-size`, is below 1."""
    for option in options:
        value = getattr(args, option.lstrip("-").replace("-", "_"))
        if value is not None and value < 1:
            raise BiLmError(f"{option} must be at least 1, not {value}")
