"""A command, for `elmo NAME` and `allennlp elmo-NAME` alike."""

import argparse
import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.commands.options import STANDARD_OUTPUT, InputPath, OutputPath, TextPath
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.outputs import check_outputs

Run = Callable[[argparse.Namespace], Any]
"""Runs a command. Returns the content for `--json`. Raises `BiLmError` for a user's mistake."""


def output_paths(args: argparse.Namespace) -> list[OutputPath]:
    """Returns the values of all arguments of the type `OutputPath`."""
    return [value for value in vars(args).values() if isinstance(value, OutputPath)]


class Command(NamedTuple):
    """
    The arguments of a command. The function `run` in `elmo_plugin.commands.NAME` does the work: `--help`, and
    errors in the arguments, must not wait for torch and AllenNLP.
    """

    name: str
    description: str
    """Its first sentence is in the list of commands."""
    examples: str
    """A call in each line."""
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    needs_allennlp: bool = False
    resume_path: Callable[[argparse.Namespace], Path] | None = None
    """Returns the file or folder from which the same command resumes, if it is there."""
    outputs: Callable[[argparse.Namespace], Sequence[str | Path]] = output_paths
    """Returns the files that the command writes, if they are not the values of its arguments."""
    check_arguments: Callable[[argparse.Namespace], None] = lambda args: None
    """Raises `BiLmError` for values that are wrong in this command, before it is imported."""

    @property
    def summary(self) -> str:
        return self.description.partition(". ")[0].rstrip(".")

    def check(self, args: argparse.Namespace) -> None:
        """
        Raises `BiLmError` if an input or a GPU is missing, or an output is an input, a folder or another
        output.
        """
        values = [value for value in vars(args).values() if not isinstance(value, OutputPath)]
        check_outputs(self.outputs(args), values)
        inputs = [path for value in values for path in (value if isinstance(value, list) else [value])]
        paths = [path for path in inputs if isinstance(path, InputPath)]
        if sum(path == "-" for path in paths) > 1 or list(self.outputs(args)).count(STANDARD_OUTPUT) > 1:
            raise BiLmError("- (standard input or output) can be used once: give file names for the others")
        for path in paths:
            path.check()
        self.check_arguments(args)
        devices = getattr(args, "device", "cpu")
        if devices not in ("cpu", ["cpu"]) and getattr(args, "dask", None) is None:  # a cluster has its own
            from elmo_plugin.common.process import get_device  # imports torch

            for device in devices if isinstance(devices, list) else [devices]:
                get_device(device)

    def load(self) -> Run:
        """Imports the function that runs the command, often with torch or AllenNLP: this takes seconds."""
        run: Run = import_module(f"elmo_plugin.commands.{self.name}").run
        return run

    def execute(self, run: Run, args: argparse.Namespace) -> None:
        """Runs the command and writes `--json`. If that is standard output, all else is printed elsewhere."""
        is_piped = STANDARD_OUTPUT in self.outputs(args)
        with (
            _loudness(args),
            _standard_input_as_file(args),
            redirect_stdout(sys.stderr) if is_piped else nullcontext(),
        ):
            content = run(args)
        if content is not None and args.json:
            from elmo_plugin.common.files import write_json  # imports numpy

            write_json(args.json, content)

    def how_to_resume(self, args: argparse.Namespace) -> str:
        """Reports the kept part of a stopped run, or an empty string."""
        path = self.resume_path and self.resume_path(args)
        if path and path.exists():
            return f"{path} keeps the finished part; the same command resumes it"
        return ""


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


@contextmanager
def _standard_input_as_file(args: argparse.Namespace) -> Iterator[None]:
    """Copies standard input to a temporary file and names it in place of a `TextPath` that is `-`."""
    values = {name: value if isinstance(value, list) else [value] for name, value in vars(args).items()}
    streams = [name for name, paths in values.items() for path in paths if _is_stream(path)]
    if not streams:
        yield
        return
    if sys.stdin is None:
        raise BiLmError("standard input is closed")
    with tempfile.TemporaryDirectory(prefix="elmo_") as folder:
        copy = Path(folder) / "standard input"
        with open(copy, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        for name in streams:
            paths = [TextPath(str(copy)) if _is_stream(path) else path for path in values[name]]
            setattr(args, name, paths if isinstance(getattr(args, name), list) else paths[0])
        try:
            yield
        except ValueError as error:  # a `BiLmError`
            raise BiLmError(str(error).replace(str(copy), copy.name)) from error


def _is_stream(value: Any) -> bool:
    return isinstance(value, TextPath) and value == "-"
