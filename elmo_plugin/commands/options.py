"""The arguments that several commands share, each described once, and the types of arguments."""

import argparse
import os
import re
from glob import iglob
from typing import TYPE_CHECKING, Any, Protocol

from elmo_plugin import __version__
from elmo_plugin.common.bundled import archive_path, model_name
from elmo_plugin.common.downloads import is_url
from elmo_plugin.common.errors import BiLmError

if TYPE_CHECKING:
    from elmo_plugin.analysis.representations import RepresentationSettings

STANDARD_OUTPUT = "/dev/stdout"
BILM_NAMES = (
    "tiny",
    "base",
    "small",
    "medium",
    "original",
    "original-5.5b",
    "pubmed",
    "portuguese",
    "seqvec",
)
"""The names of biLMs, as in `elmo_plugin.bilm.io.MODELS`. To read them there would import torch."""
LOCAL_CLUSTER = "local"
"""The value of `--dask` for a cluster of processes on this machine."""


class InputPath(str):
    """The `type` of an argument that names a file, a folder or a URL that the command reads."""

    kind = "file"

    def __new__(cls, path: str) -> "InputPath":
        return super().__new__(cls, os.path.expanduser(path))

    def check(self) -> None:
        """Raises `BiLmError` if the file does not exist, before anything large is imported."""
        if not (is_url(self) or os.path.exists(self) or self._is_found()):
            raise BiLmError(f"{self.kind} not found: {self}{self._hint_if_missing()}")

    def _hint_if_missing(self) -> str:
        """Returns a hint for the message that the file was not found, or an empty string."""
        return ""

    def _is_found(self) -> bool:
        """Returns whether a text names something to read, though no file has this path."""
        return False


class StreamPath(InputPath):
    """A file that is read once, or `-` for standard input."""

    def _is_found(self) -> bool:
        return self == "-"


class TextPath(InputPath):
    """A text that a command may read several times."""

    kind = "text"


class TextPattern(StreamPath):
    """A text, standard input, or a pattern of texts such as `text/*.txt`."""

    kind = "text"

    def _hint_if_missing(self) -> str:
        if self.looks_like_sentence:
            return "; name a file of text, or - and pipe the text"
        return ""

    @property
    def looks_like_sentence(self) -> bool:
        """Whether somebody seems to have typed a sentence, and not the name of a file."""
        return " " in self

    def _is_found(self) -> bool:
        matches = iglob(self, recursive=True)
        return super()._is_found() or any(os.path.isfile(path) for path in matches)


class ArchivePath(InputPath):
    """
    A trained model: the name of a model in this package, an archive, or the folder of a training.
    A word for a task becomes the name of its model.
    """

    kind = "archive"

    def __new__(cls, path: str) -> "ArchivePath":
        return super().__new__(cls, str(model_name(path)))  # type: ignore[return-value]

    def check(self) -> None:
        """Raises `BiLmError` if the model does not exist."""
        if is_url(self):
            return
        if " " in self and not os.path.exists(self):  # somebody typed a text
            raise BiLmError(
                f"{self.kind} not found: {self}; name a model before a text, as in "
                "elmo predict ner TEXT"
            )
        if not archive_path(self).exists():
            raise BiLmError(f"{self.kind} not found: {self}")


class OutputPath(str):
    """The `type` of an argument that names a file to write; `-` is standard output."""

    def __new__(cls, path: str) -> "OutputPath":
        if path == "-":
            return super().__new__(cls, STANDARD_OUTPUT)
        return super().__new__(cls, os.path.expanduser(path))  # shells do not expand --json=~/FILE


def output_paths(args: argparse.Namespace) -> list[OutputPath]:
    """Returns the values of all arguments of the type `OutputPath`."""
    return [value for value in vars(args).values() if isinstance(value, OutputPath)]


def positive_int(text: str) -> int:
    """Parses a number that must be at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number, at least 1, got {text}")
    return int(text)


def is_column_number(text: str) -> bool:
    """Returns whether a column is given by its number, not by its name; -1 is the last column."""
    return re.fullmatch(r"-?\d+", text) is not None


def seeds(text: str) -> list[int]:
    """
    Parses the seeds of several trainings: `3` means the seeds 1, 2 and 3, and `3,7` means the seeds
    3 and 7. A single seed ends with a comma: `7,` means only the seed 7.
    """
    if "," not in text:
        last = positive_int(text)
        return list(range(1, last + 1))
    numbers = [number.strip() for number in text.split(",")]
    numbers = [number for number in numbers if number]  # nothing follows the comma of `7,`
    if not numbers or not all(number.isdecimal() for number in numbers):
        raise argparse.ArgumentTypeError(f"expected whole numbers, as in 3,7, got {text}")
    unique_seeds = dict.fromkeys(int(number) for number in numbers)
    return list(unique_seeds)


def cluster_address(dask: str | None) -> str | None:
    """Returns the address that `--dask` gives; `None` means processes of this machine."""
    if dask == LOCAL_CLUSTER:
        return None
    return dask


def representation_settings(args: argparse.Namespace) -> "RepresentationSettings":
    """Returns which vectors of words `elmo probe` and `elmo senses` compare."""
    from elmo_plugin.analysis.representations import RepresentationSettings

    return RepresentationSettings(
        bilm=args.bilm,
        mixes=args.mix,
        with_controls=args.controls,
        trust=args.trust,
        precision=args.precision,
        device=args.device,
        cache=args.cache,
    )


class HasArguments(Protocol):
    """A parser, or a group of its arguments."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action: ...


_ARCHIVE = (
    "trained model: a name of `elmo models`, a model.tar.gz, the folder of a training, or a URL"
)
_BILM = "biLM: a name (tiny, base, original, …), the archive of a training, a folder, or a URL"
_SHARED: dict[str, dict[str, Any]] = {
    "bilm": {
        "metavar": "BILM",
        "help": _BILM,
    },
    "archive": {
        "metavar": "ARCHIVE",
        "type": ArchivePath,
        "help": _ARCHIVE,
    },
    "archives": {
        "metavar": "ARCHIVE",
        "type": ArchivePath,
        "help": _ARCHIVE,
    },
    "--output": {
        "metavar": "PATH",
        "type": OutputPath,
        "help": "file or folder to write",
    },
    "--bilm": {
        "metavar": "BILM",
        "help": _BILM,
    },
    "--json": {
        "metavar": "FILE.json",
        "type": OutputPath,
        "help": "write the result as JSON to this file; - for standard output",
    },
    "--cache": {
        "metavar": "DIR",
        "help": "folder for prepared text and vectors that later calls reuse "
        "(default: $ELMO_PLUGIN_CACHE)",
    },
    "--mix": {
        "metavar": "ARCHIVE",
        "type": ArchivePath,
        "help": "the mix of layers that this trained model learned",
    },
    "--controls": {
        "action": "store_true",
        "help": "also score a random biLM of the same sizes, and counts of characters",
    },
    "--seeds": {
        "metavar": "N",
        "type": seeds,
        "default": "3",
        "help": "seeds 1 to N, or a list of seeds: 3,7",
    },
    "--device": {
        "metavar": "DEVICE",
        "default": "cpu",
        "help": "processor: cpu, cuda or cuda:N",
    },
    "--precision": {
        "choices": ("float32", "bfloat16", "int8"),
        "default": "float32",
        "help": "precision of the biLM",
    },
    "--batch-size": {
        "metavar": "N",
        "type": positive_int,
        "help": "number of sentences, questions or blocks at a time",
    },
    "--workers": {
        "metavar": "N",
        "type": positive_int,
        "help": "number of processes (default: one, or one for each GPU)",
    },
    "--dask": {
        "metavar": "ADDRESS",
        "help": "run on the Dask cluster at this address; local for one of --workers processes on "
        "this machine",
    },
    "--dtype": {
        "choices": ("float32", "float16"),
        "help": "type of the numbers that are written",
    },
    "--tokenizer": {
        "choices": ("whitespace", "spacy", "letters"),
        "default": "whitespace",
        "help": "whitespace: the text is tokenized already; spacy: by spaCy's rules, without a "
        "model; letters: each letter of a protein is a word",
    },
    "--language": {
        "metavar": "CODE",
        "default": "en",
        "help": "language of spaCy's rules",
    },
    "--trust": {
        "action": "store_true",
        "help": "let archives name any file, and any class by its module (its code runs)",
    },
}
"""What `add_argument` gets for each shared argument."""
_SHORT_NAMES = {"--output": "-o"}


def add_shared(parser: HasArguments, *names: str, **changes: Any) -> None:
    """
    Adds shared arguments to a parser by name, with changes such as `required=True`. If an argument
    has a default, its help ends with it.
    """
    for name in names:
        spellings = [name]
        if name in _SHORT_NAMES:
            spellings.insert(0, _SHORT_NAMES[name])
        options = _SHARED[name] | changes
        if options.get("default") not in (None, []):
            options["help"] += " (default: %(default)s)"
        parser.add_argument(*spellings, **options)


def add_verbosity_and_version(parser: argparse.ArgumentParser) -> None:
    """
    Adds the options for how much is printed, and `--version`, to a parser. Both `elmo` and each
    command have them, so they may stand before and after the command's name.
    """
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="show no progress and no warnings"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="log progress")
    parser.add_argument(
        "-V",
        "--version",
        action="version",
        version=f"elmo_plugin {__version__}",
        help="print the version",
    )
