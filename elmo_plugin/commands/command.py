"""A command, for `elmo NAME` and `allennlp elmo-NAME` alike."""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import cached_property
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Any

from elmo_plugin.commands.options import STANDARD_OUTPUT, InputPath, OutputPath, output_paths
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import check_outputs, write_json


class Command:
    """
    A file of this folder: its docstring is the help, `add_arguments` takes a parser, and `run` the
    parsed arguments. `run` returns the content for `--json`, and raises `BiLmError` for a user's
    mistake. It imports torch and AllenNLP itself: `--help`, and errors in the arguments, must not
    wait for them.

    The file may have, too: `NEEDS`, which is "torch" or "allennlp"; and functions of the arguments,
    `outputs`, the files to be written if these are not the arguments of that type;
    `check_arguments`, which raises `BiLmError`; and `resume_path`, the file or folder from which
    the same command resumes.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def module(self) -> Any:
        file = f"{self.name}_" if iskeyword(self.name) else self.name  # as `import`
        return import_module(f"elmo_plugin.commands.{file}")

    @property
    def _help(self) -> tuple[str, str, str]:
        return (self.module.__doc__ or "").partition("\n\n")  # none under `python -OO`

    @property
    def description(self) -> str:
        """The docstring without examples. Its first sentence is in the list of commands."""
        return " ".join(self._help[0].split())

    @property
    def examples(self) -> list[str]:
        return [line.strip() for line in self._help[2].strip().splitlines()]

    @property
    def summary(self) -> str:
        return self.description.partition(". ")[0].rstrip(".")

    @property
    def needs_allennlp(self) -> bool:
        return getattr(self.module, "NEEDS", "") == "allennlp"

    def outputs(self, args: argparse.Namespace) -> Sequence[str | Path]:
        """Returns the files that the command writes."""
        return getattr(self.module, "outputs", output_paths)(args)

    def check(self, args: argparse.Namespace) -> None:
        """Raises `BiLmError` if an input or a GPU is missing, or an output cannot be."""
        values = [value for value in vars(args).values() if not isinstance(value, OutputPath)]
        check_outputs(self.outputs(args), values)
        inputs = [
            path for value in values for path in (value if isinstance(value, list) else [value])
        ]
        paths = [path for path in inputs if isinstance(path, InputPath)]
        if list(self.outputs(args)).count(STANDARD_OUTPUT) > 1:
            raise BiLmError("- (standard output) can be used once: give file names for the others")
        for path in paths:
            path.check()
        if hasattr(self.module, "check_arguments"):
            self.module.check_arguments(args)
        devices = getattr(args, "device", "cpu")
        if (
            devices not in ("cpu", ["cpu"]) and getattr(args, "dask", None) is None
        ):  # a cluster has its own
            from elmo_plugin.common.process import get_device  # imports torch

            for device in devices if isinstance(devices, list) else [devices]:
                get_device(device)

    def load(self) -> None:
        """Imports torch or AllenNLP: meanwhile Ctrl-C ends the process at once."""
        if self.needs_allennlp:
            from elmo_plugin.archives import import_all_plugins

            import_all_plugins("this command")
        elif hasattr(self.module, "NEEDS"):
            import_module("elmo_plugin.bilm")

    def execute(self, args: argparse.Namespace) -> None:
        """
        Runs the command and writes `--json`. If that is standard output, all else is printed
        elsewhere.
        """
        is_piped = STANDARD_OUTPUT in self.outputs(args)
        with _loudness(args), redirect_stdout(sys.stderr) if is_piped else nullcontext():
            content = self.module.run(args)
        if content is not None and args.json:
            write_json(args.json, content)

    def how_to_resume(self, args: argparse.Namespace) -> str:
        """Reports the kept part of a stopped run, or an empty string."""
        if hasattr(self.module, "resume_path") and (path := self.module.resume_path(args)).exists():
            return f"{path} keeps the finished part; the same command resumes it"
        return ""


GROUPS = {
    "Embed text, and biLMs": ("embed", "models", "neighbors", "perplexity", "export"),
    "Predict with models of tasks": ("predict", "demo", "score", "ensemble", "port"),
    "Train": ("import", "new", "sweep"),
    "Look closer": ("weights", "probe", "senses", "doctor"),
}
"""The commands, as `elmo --help` lists them."""
COMMANDS = {name: Command(name) for names in GROUPS.values() for name in names}


@contextmanager
def _loudness(args: argparse.Namespace) -> Iterator[None]:
    """Sets the level of the package's log."""
    logger = logging.getLogger("elmo_plugin")
    level = logger.level
    if args.verbose:
        logging.basicConfig(format="%(message)s")
    logger.setLevel(logging.ERROR if args.quiet else logging.INFO if args.verbose else level)
    try:
        yield
    finally:
        logger.setLevel(level)
