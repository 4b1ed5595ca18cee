"""The options that several commands have, each spelled and explained once, and the types of
arguments.
"""

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


class InputPath(str):
    """The `type` of an argument that names a file, a folder or a URL to read."""

    kind = "file"

    def __new__(cls, path: str) -> "InputPath":
        return super().__new__(cls, os.path.expanduser(path))

    def check(self) -> None:
        """
        Raises `BiLmError` if there is no such file. It is called before anything large is imported.
        """
        if not (is_url(self) or os.path.exists(self) or self._is_found()):
            raise BiLmError(f"{self.kind} not found: {self}")

    def _is_found(self) -> bool:
        """Returns whether a string that is not a path means something else."""
        return False


class StreamPath(InputPath):
    """A file that is read once, or `-` for standard input."""

    def _is_found(self) -> bool:
        return self == "-"


class TextPath(InputPath):
    """A text, which a command may read several times."""

    kind = "text"


class TextPattern(StreamPath):
    """A text, standard input, or a pattern of texts."""

    kind = "text"

    def _is_found(self) -> bool:
        return super()._is_found() or any(map(os.path.isfile, iglob(self, recursive=True)))


class ArchivePath(InputPath):
    """
    A trained model: the name of one in this package, its archive, or the folder of the training.
    """

    kind = "archive"

    def __new__(cls, path: str) -> "ArchivePath":
        return super().__new__(cls, str(model_name(path)))  # type: ignore[return-value]

    def check(self) -> None:
        if is_url(self):
            return
        if not archive_path(
            str(self)
        ).exists():  # not `self`: a name of this package may also be a file here
            raise BiLmError(f"{self.kind} not found: {self}")


class OutputPath(str):
    """The `type` of an argument that is a file to be written; `-` is standard output."""

    def __new__(cls, path: str) -> "OutputPath":
        # Shells do not expand --json=~/FILE.
        return super().__new__(cls, STANDARD_OUTPUT if path == "-" else os.path.expanduser(path))


def output_paths(args: argparse.Namespace) -> list[OutputPath]:
    """Returns the values of all arguments of the type `OutputPath`."""
    return [value for value in vars(args).values() if isinstance(value, OutputPath)]


def positive_int(text: str) -> int:
    """Parses a number that must be at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number, at least 1, got {text}")
    return int(text)


def seeds(text: str) -> list[int]:
    """Parses `3`, the seeds 1 to 3, or `3,7`, these seeds; `7,` is one seed."""
    if "," not in text:
        return list(range(1, positive_int(text) + 1))
    return list(dict.fromkeys(int(number) for number in text.split(",") if number))


def add(
    parser: Any, spelling: str, about: str, type: Callable[[str], Any] = str, **options: Any
) -> None:
    """
    Adds an argument to a parser or a group, by its names and its value: `--layer N`, `-o/--output
    PATH`, `texts TEXT`, `--trust`, or `--dtype` with choices. Its default is added to its help.
    """
    names, _, metavar = spelling.partition(" ")
    if metavar or "choices" in options:
        options = {"type": type, "metavar": metavar or None, **options}
    elif "action" not in options:
        options["action"] = "store_true"
    if options.get("default") not in (None, "", [], argparse.SUPPRESS):
        about += " (default: %(default)s)"
    parser.add_argument(*names.split("/"), help=about, **options)


_JSON = "write the result as JSON to this file, or without it to standard output"
_COLUMN = (
    "read a table: the column of words, from 0; blank lines end sentences, and spaces in "
    "words become _"
)
_CACHE = "folder for prepared text and vectors of later calls (default: $ELMO_PLUGIN_CACHE)"
_BILM = "biLM: a name (tiny, base, original, …), the archive of a training, a folder, or a URL"
_ARCHIVE = (
    "trained model: a name of `elmo models`, a model.tar.gz, the folder of a training, or a URL"
)
_DASK = "use the Dask cluster at this address, or without one --workers processes of Dask"
_SHARED: dict[str, tuple[str, dict[str, Any]]] = {
    "bilm BILM": (_BILM, {}),
    "archive ARCHIVE": (_ARCHIVE, {"type": ArchivePath}),
    "archives ARCHIVE": (_ARCHIVE, {"type": ArchivePath}),
    "-o/--output PATH": ("file or folder to write", {"type": OutputPath}),
    "--bilm BILM": (_BILM, {}),
    "--json FILE.json": (_JSON, {"type": OutputPath, "nargs": "?", "const": "-"}),
    "--column N": (_COLUMN, {"type": int}),
    "--cache DIR": (_CACHE, {}),
    "--mix ARCHIVE": ("mix of layers of this trained model", {"type": ArchivePath}),
    "--controls": ("also score a random biLM of the same sizes, and counts of characters", {}),
    "--seeds N": ("seeds 1 to N, or these: 3,7", {"type": seeds, "default": "3"}),
    "--device DEVICE": ("processor: cpu, cuda or cuda:N", {"default": "cpu"}),
    "--precision": (
        "precision of the biLM",
        {"choices": ("float32", "bfloat16", "int8"), "default": "float32"},
    ),
    "--batch-size N": (
        "number of sentences, questions or blocks at a time",
        {"type": positive_int},
    ),
    "--workers N": (
        "number of processes (default: one, or one for each GPU)",
        {"type": positive_int},
    ),
    "--dask ADDRESS": (_DASK, {"nargs": "?", "const": ""}),
    "--dtype": ("type of the numbers that are written", {"choices": ("float32", "float16")}),
    "--tokenizer": (
        "whitespace: already tokenized; spacy: by spaCy's rules, without a model; letters: of a "
        "protein",
        {"choices": ("whitespace", "spacy", "letters"), "default": "whitespace"},
    ),
    "--language CODE": ("language of spaCy's rules", {"default": "en"}),
    "--trust": ("let archives name any file, and any class by its module (its code runs)", {}),
}
_BY_NAME = {spelling.split()[0].split("/")[-1]: spelling for spelling in _SHARED}
OPTIONAL_VALUES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--json": ("-", re.compile(r"-|/dev/.*|.*\.jsonl?").fullmatch),
    "--dask": ("", re.compile(r"(\w+://)?[\w.-]+:[0-9]+").fullmatch),
}
"""The options that may have no value: their meaning then, and which words are a value (after `=`
any is).
"""


def add_shared(parser: Any, *names: str, **changes: Any) -> None:
    """Adds arguments of several commands by their names, with changes such as `required=True`."""
    for name in names:
        about, options = _SHARED[_BY_NAME[name]]
        add(parser, _BY_NAME[name], about, **options | changes)


def add_loudness(parser: argparse.ArgumentParser, version: str) -> None:
    """Adds the options that stand before or after the name of a command."""
    add(parser, "-q/--quiet", "no progress and no warnings")
    add(parser, "-v/--verbose", "log progress")
    add(
        parser,
        "-V/--version",
        "print the version",
        action="version",
        version=f"elmo_plugin {version}",
    )
