"""A command, for `elmo NAME` and `allennlp elmo-NAME` alike."""

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from functools import cached_property
from importlib import import_module
from itertools import chain
from keyword import iskeyword
from pathlib import Path
from typing import Any

from elmo_plugin.commands.options import STANDARD_OUTPUT, InputPath, OutputPath, output_paths
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import write_json
from elmo_plugin.common.logs import PACKAGE_LOGGER, log_level, show_log
from elmo_plugin.common.outputs import check_outputs, device_and_inode
from elmo_plugin.common.process import get_device, without_garbage_collection

Inode = tuple[int, int]  # the device of a file, and its number there


class Command:
    """
    A command. Each command is a module in the folder of this file.

    The docstring of the module is the help. Its function `add_arguments` adds the arguments to a
    parser of argparse. Its function `run` gets the parsed arguments, does the work, and returns the
    content for `--json`. It raises `BiLmError` for a mistake of the user. `run` must import torch
    and AllenNLP itself, because `--help` and errors in the arguments must not wait for them.

    A module may also have:

    NEEDS: "torch" or "allennlp", if the command cannot run without it
    outputs(args): returns the files to write; by default, all arguments of the type `OutputPath`
    check_arguments(args): raises `BiLmError` for arguments that do not go together
    resume_path(args): returns the file or folder from which the same command resumes, or `None`
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def module(self) -> Any:
        """The module of the command. The first access imports it."""
        module_name = self.name
        if iskeyword(module_name):
            module_name = f"{module_name}_"  # `import` is a keyword, so its module is `import_`
        return import_module(f"elmo_plugin.commands.{module_name}")

    @property
    def _paragraphs(self) -> list[str]:
        """The paragraphs of the module's docstring: the description, and usually examples."""
        docstring = self.module.__doc__ or ""  # there is none under `python -OO`
        return docstring.split("\n\n")

    @property
    def description(self) -> str:
        """The docstring without examples. Its first sentence is in the list of commands."""
        description = self._paragraphs[0]
        return " ".join(description.split())

    @property
    def examples(self) -> list[str]:
        """The command lines in the docstring, such as `elmo demo --port 0`."""
        lines = []
        for paragraph in self._paragraphs[1:]:
            lines += [line.strip() for line in paragraph.strip().splitlines()]
        return lines

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, without its full stop."""
        sentences = self.description.split(". ")
        return sentences[0].rstrip(".")

    @property
    def needs(self) -> str:
        """The package without which the command cannot run, or an empty string."""
        return getattr(self.module, "NEEDS", "")

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
        # All other values, also numbers and flags: any text among them may name a file.
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

    def import_packages(self) -> None:
        """
        Imports torch or AllenNLP if the command needs it. `elmo` does this before the work begins,
        because it takes seconds: until then, Ctrl-C can end the process at once.
        """
        with without_garbage_collection():
            if self.needs == "allennlp":
                from elmo_plugin.archives import import_all_plugins

                import_all_plugins(subject="this command")
            elif self.needs == "torch":
                import_module("elmo_plugin.bilm")

    def execute(self, args: argparse.Namespace) -> None:
        """
        Runs the command, and writes the file of `--json`. If a result goes to standard output,
        everything else is printed to standard error.
        """
        printing: AbstractContextManager[object] = nullcontext()
        if STANDARD_OUTPUT in self.outputs(args):
            printing = redirect_stdout(sys.stderr)
        show_log(verbose=args.verbose)
        with log_level(_log_level(args)), printing:
            content = self.module.run(args)
        if content is not None and args.json:
            write_json(args.json, content)

    def output_inodes(self, args: argparse.Namespace) -> dict[str | Path, Inode | None]:
        """Returns the device and the inode of each output; `None` for one that does not exist."""
        return {path: device_and_inode(path) for path in self.outputs(args)}

    def what_is_kept(
        self, args: argparse.Namespace, inodes_before: Mapping[str | Path, Inode | None]
    ) -> str:
        """
        Returns a hint that names the files that a stopped run keeps, or an empty string.
        `inodes_before` were found when the run began: a written output has another inode.
        """
        hint = self.how_to_resume(args)
        if hint:
            return hint
        written = []
        for path, inode in inodes_before.items():
            if device_and_inode(path) != inode:
                written.append(str(path))
        if written:
            return f"{' and '.join(written)} had been written"
        return ""

    def how_to_resume(self, args: argparse.Namespace) -> str:
        """Returns a hint that names the finished part of a stopped run, or an empty string."""
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
    """Yields the values of arguments. If an argument has several values, yields each of them."""
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
        if device != "cpu":  # so that commands on the CPU do not import torch here
            get_device(str(device))  # raises an error if this GPU does not exist


def _log_level(args: argparse.Namespace) -> int:
    """Returns the level of the log that `--quiet` and `--verbose` choose."""
    if args.quiet:
        return logging.ERROR
    if args.verbose:
        return logging.INFO
    return PACKAGE_LOGGER.level  # unchanged
