"""The options that several commands have, each spelled and explained once, and the types of arguments."""

import argparse
import os
import re
from collections.abc import Callable
from glob import iglob
from typing import Any

from elmo_plugin.common.bundled import archive_path, model_name
from elmo_plugin.common.downloads import is_url
from elmo_plugin.common.errors import BiLmError

STANDARD_OUTPUT = "/dev/stdout"
PRECISIONS = ("float32", "bfloat16", "int8")
DTYPES = ("float32", "float16")
_DEVICE = "cpu|cuda(:[0-9]+)?"
_MODEL_FILES = ("config.json", "best.th", "weights.th", "options.json")  # one of them is in a model's folder


class InputPath(str):
    """The `type` of an argument that names a file, a folder or a URL to read; `-` is standard input."""

    kind = "file"

    def __new__(cls, path: str) -> "InputPath":
        return super().__new__(cls, os.path.expanduser(path))

    def check(self) -> None:
        """Raises `BiLmError` if there is no such file. It is called before anything large is imported."""
        if not (self == "-" or is_url(self) or os.path.exists(self) or self._is_found()):
            raise BiLmError(f"{self.kind} not found: {self}")

    def _is_found(self) -> bool:
        """Returns whether a string that is not a path means something else."""
        return False


class TextPath(InputPath):
    """A text, which a command may read several times: standard input is copied to a file."""

    kind = "text"


class TextPattern(TextPath):
    """A text, or a pattern of texts."""

    def _is_found(self) -> bool:
        return any(map(os.path.isfile, iglob(self, recursive=True)))


class ConfigPath(InputPath):
    """A configuration: `FILE`, or `FILE:VARIANT`."""

    kind = "configuration"

    def _is_found(self) -> bool:
        return os.path.isfile(self.rpartition(":")[0])


class ArchivePath(InputPath):
    """A trained model: the name of one in this package, its archive, or the folder of the training."""

    kind = "archive"

    def __new__(cls, path: str) -> "ArchivePath":
        return super().__new__(cls, str(model_name(path)))  # type: ignore[return-value]

    def check(self) -> None:
        if is_url(self):
            return
        path = archive_path(str(self))  # not `self`: a name of this package may also be a file here
        if not path.exists():
            raise BiLmError(f"{self.kind} not found: {self}")
        if path.is_dir():
            if not any((path / name).exists() for name in _MODEL_FILES):
                raise BiLmError(
                    f"{self}: expected the folder of a training, found no {_MODEL_FILES[0]} in it"
                )
        elif path.is_file():
            with open(path, "rb") as file:
                start = file.read(262)
            if start[:2] != b"\x1f\x8b" and start[257:] != b"ustar":
                raise BiLmError(f"{self}: expected an archive such as model.tar.gz, got another file")


class OutputPath(str):
    """The `type` of an argument that is a file to be written; `-` is standard output."""

    def __new__(cls, path: str) -> "OutputPath":
        # Shells do not expand --json=~/FILE.
        return super().__new__(cls, STANDARD_OUTPUT if path == "-" else os.path.expanduser(path))


def positive_int(text: str) -> int:
    """Parses a number that must be at least 1."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {number}")
    return number


def seeds(text: str) -> list[int]:
    """Parses `3`, the seeds 1 to 3, or `3,7`, these seeds; `7,` is one seed."""
    if "," not in text:
        return list(range(1, positive_int(text) + 1))
    return list(dict.fromkeys(int(number) for number in text.split(",") if number))


def device(text: str) -> str:
    """Parses `cpu`, `cuda` or `cuda:N`."""
    if not re.fullmatch(_DEVICE, text):
        raise argparse.ArgumentTypeError(f"expected cpu, cuda or cuda:N, got {text!r}")
    return text


def devices(text: str) -> list[str]:
    """Parses one device, or several with commas."""
    return list(map(device, text.split(",")))


def _valued(metavar: str, about: str, **options: Any) -> dict[str, Any]:
    return {"metavar": metavar, "help": about, **options}


BILM = _valued(
    "BILM", "biLM: a name (tiny, base, original, …), the archive of a training, a folder, or a URL"
)
_TRAINED = "trained model: a name of `elmo models`, a model.tar.gz, the folder of a training, or a URL"
ARCHIVE = _valued("ARCHIVE", _TRAINED, type=ArchivePath)
_JSON = "write the result as JSON to FILE.json, or without FILE to standard output"
_CACHE = "folder for prepared text and vectors of later calls (default: $ELMO_PLUGIN_CACHE)"
_CONTROLS = "also score a random biLM of the same sizes, and counts of characters"
_DEVICE_ABOUT = "processor: cpu, cuda or cuda:N (default: %(default)s)"
_PRECISION = "precision of the biLM (default: %(default)s)"
_BATCH = "number of sentences, questions or blocks at a time (default: %(default)s)"
_DASK = "use the Dask cluster at this address, or without one --workers processes of Dask"
_TRUST = "let archives name any file, and any class by its module (its code runs)"
OPTIONS: dict[str, dict[str, Any]] = {
    "-o/--output": _valued("PATH", "file or folder to write", type=OutputPath),
    "--bilm": BILM,
    "--json": _valued("FILE", _JSON, type=OutputPath, nargs="?", const="-"),
    "--plot": _valued("FILE", "draw the result, as .svg, .png or .pdf", type=OutputPath),
    "--cache": _valued("DIR", _CACHE),
    "--mix": _valued("ARCHIVE", "mix of layers of this trained model", type=ArchivePath),
    "--controls": {"action": "store_true", "help": _CONTROLS},
    "--seeds": _valued("N", "seeds 1 to N, or these: 3,7 (default: %(default)s)", type=seeds, default="3"),
    "--device": _valued("DEVICE", _DEVICE_ABOUT, type=device, default="cpu"),
    "--precision": {"choices": PRECISIONS, "default": PRECISIONS[0], "help": _PRECISION},
    "--batch-size": _valued("N", _BATCH, type=positive_int),
    "--workers": _valued("N", "number of processes (default: one, or one for each GPU)", type=positive_int),
    "--dask": _valued("ADDRESS", _DASK, nargs="?", const=""),
    "--dtype": {"choices": DTYPES, "help": "type of the numbers that are written"},
    "--trust": {"action": "store_true", "help": _TRUST},
}
OPTIONAL_VALUES: dict[str, Callable[[str], Any]] = {
    "--json": re.compile(r"-|/dev/.*|.*\.jsonl?").fullmatch,
    "--dask": re.compile(r"(\w+://)?[\w.-]+:[0-9]+").fullmatch,
}
"""Which words are the value of an option that may have none; any value may follow it with `=`."""


def add_options(parser: Any, *names: str, **changes: Any) -> None:
    """Adds options of `OPTIONS` to a parser or a group, with changes such as `required=True`."""
    for name in names:
        parser.add_argument(*name.split("/"), **OPTIONS[name] | changes)


def add_number(parser: Any, name: str, default: int, about: str) -> None:
    """Adds an option with a number that is at least 1."""
    about = f"{about} (default: %(default)s)"
    parser.add_argument(name, type=positive_int, default=default, metavar="N", help=about)


def add_loudness(parser: argparse.ArgumentParser, version: str) -> None:
    """Adds the options that stand before or after the name of a command."""
    add = parser.add_argument
    add("-q", "--quiet", action="store_true", help="no progress and no warnings")
    add("-v", "--verbose", action="store_true", help="log progress")
    add("-V", "--version", action="version", version=f"elmo_plugin {version}", help="print the version")
