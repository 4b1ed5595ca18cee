"""A command, for `elmo NAME` and `allennlp elmo-NAME` alike."""

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from functools import cached_property
from importlib import import_module
from itertools import chain
from keyword import iskeyword
from pathlib import Path
from typing import Any

from elmo_plugin.commands.options import STANDARD_OUTPUT, InputPath, OutputPath, output_paths
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import check_outputs, write_json
from elmo_plugin.common.logs import show_log


class Command:
    """
    A file of this folder. Its docstring is the help; `add_arguments` adds its arguments to a parser
    of argparse, and `run` does the work with the parsed ones. `run` returns the content for
    `--json`, and raises `BiLmError` for a mistake of the user. It imports torch and AllenNLP
    itself, because `--help` and errors in the arguments must not wait for them.

    The file may also have `NEEDS`, either "torch" or "allennlp", and three functions of the
    arguments: `outputs` returns the files to write, if they are not the arguments of the type
    `OutputPath`; `check_arguments` raises `BiLmError` for arguments that do not go together; and
    `resume_path` returns the file or folder from which the same command resumes, or `None`.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def module(self) -> Any:
        """The module of the file. The first access imports it."""
        file = self.name
        if iskeyword(file):
            file = f"{file}_"  # such as `import_`
        return import_module(f"elmo_plugin.commands.{file}")

    @property
    def _docstring(self) -> list[str]:
        """The paragraphs of the file's docstring: the description, and usually examples."""
        docstring = self.module.__doc__ or ""  # there is none under `python -OO`
        return docstring.split("\n\n")

    @property
    def description(self) -> str:
        """The docstring without examples. Its first sentence is in the list of commands."""
        description = self._docstring[0]
        return " ".join(description.split())

    @property
    def examples(self) -> list[str]:
        """The lines of the docstring that show how the command is typed."""
        lines = []
        for paragraph in self._docstring[1:]:
            lines += [line.strip() for line in paragraph.strip().splitlines()]
        return lines

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, without its full stop."""
        sentences = self.description.split(". ")
        return sentences[0].rstrip(".")

    @property
    def needs_allennlp(self) -> bool:
        """Whether the command cannot run without AllenNLP."""
        return getattr(self.module, "NEEDS", "") == "allennlp"

    def outputs(self, args: argparse.Namespace) -> Sequence[str | Path]:
        """Returns the files that the command writes."""
        if hasattr(self.module, "outputs"):
            return self.module.outputs(args)
        return output_paths(args)

    def check(self, args: argparse.Namespace) -> None:
        """
        Raises `BiLmError` if an input or a GPU is missing, an output cannot be written, or
        arguments do not go together.
        """
        inputs = [value for value in vars(args).values() if not isinstance(value, OutputPath)]
        outputs = list(self.outputs(args))
        check_outputs(outputs, inputs)
        if outputs.count(STANDARD_OUTPUT) > 1:
            raise BiLmError("- (standard output) can be used once: give file names for the others")
        for value in _single_values(inputs):
            if isinstance(value, InputPath):
                value.check()
        if hasattr(self.module, "check_arguments"):
            self.module.check_arguments(args)
        _check_devices(args)

    def load(self) -> None:
        """
        Imports torch or AllenNLP, if the command needs one. This takes seconds, in which Ctrl-C
        ends the process at once, because no work has begun.
        """
        # Here, because --help can do without it.
        from elmo_plugin.common.process import without_garbage_collection

        with without_garbage_collection():
            if self.needs_allennlp:
                from elmo_plugin.archives import import_all_plugins

                import_all_plugins(subject="this command")
            elif hasattr(self.module, "NEEDS"):
                import_module("elmo_plugin.bilm")

    def execute(self, args: argparse.Namespace) -> None:
        """
        Runs the command and writes `--json`. If a result goes to standard output, everything else
        is printed to standard error.
        """
        printing: AbstractContextManager[object] = nullcontext()
        if STANDARD_OUTPUT in self.outputs(args):
            printing = redirect_stdout(sys.stderr)
        with _loudness(args), printing:
            content = self.module.run(args)
        if content is not None and args.json:
            write_json(args.json, content)

    def how_to_resume(self, args: argparse.Namespace) -> str:
        """Returns a hint at the part of a stopped run that is kept, or an empty string."""
        if not hasattr(self.module, "resume_path"):
            return ""
        path = self.module.resume_path(args)
        if path is None or not path.exists():
            return ""
        return f"{path} keeps the finished part; the same command resumes it"


GROUPS = {
    "Embed text, and biLMs": ("embed", "models", "neighbors", "perplexity", "export"),
    "Predict with models of tasks": ("predict", "demo", "score", "ensemble", "port"),
    "Train": ("import", "new", "sweep"),
    "Look closer": ("weights", "probe", "senses", "doctor"),
}
"""The commands, as `elmo --help` lists them."""
COMMANDS = {name: Command(name) for name in chain.from_iterable(GROUPS.values())}


def _single_values(values: Iterable[object]) -> Iterator[object]:
    """Yields the values of arguments, and each value of those that have several."""
    for value in values:
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _check_devices(args: argparse.Namespace) -> None:
    """Raises `BiLmError` if `--device` names a GPU that this machine does not have."""
    if getattr(args, "dask", None) is not None:
        return  # the machines of a cluster have GPUs of their own
    # Most commands take one device, `elmo embed` several.
    for device in _single_values([getattr(args, "device", "cpu")]):
        if device != "cpu":
            from elmo_plugin.common.process import get_device  # here, because it imports torch

            get_device(str(device))  # raises for a GPU that is not there


@contextmanager
def _loudness(args: argparse.Namespace) -> Iterator[None]:
    """Logs as much as `--quiet` or `--verbose` says, within the block."""
    logger = logging.getLogger("elmo_plugin")
    level = logger.level
    if args.quiet:
        logger.setLevel(logging.ERROR)
    elif args.verbose:
        logger.setLevel(logging.INFO)
    show_log(args.verbose)
    try:
        yield
    finally:
        logger.setLevel(level)
