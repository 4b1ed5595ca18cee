"""What AllenNLP writes: each file is replaced only by a complete one, and no input is replaced.

`allennlp train` writes the configuration and the vocabulary of a run again each time it starts, and
`--recover` cannot read what a kill has left half-written. `allennlp predict` and `evaluate` empty their
outputs before they read anything.
"""

import argparse
import glob
import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from allennlp.commands import evaluate, predict, train
from allennlp.common import Params, util
from allennlp.data import Vocabulary
from allennlp.evaluation import evaluator
from allennlp.models import archival
from allennlp.training import util as training_util

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import remove_leftovers, replace_when_written
from elmo_plugin.common.outputs import Output, check_outputs, named_files

PARAMS_TO_FILE = Params.to_file
VOCABULARY_TO_FILES = Vocabulary.save_to_files
DUMP_METRICS = util.dump_metrics
PREDICT = predict._predict
EVALUATE = evaluate.evaluate_from_args

# AllenNLP compresses at level 9, which takes eight times as long and makes weights 3 % smaller.
COMPRESSION_LEVEL = 1

StrPath = str | os.PathLike[str]


def params_to_file(self: Params, params_file: str, preference_orders: list[list[str]] | None = None) -> None:
    with replace_when_written(params_file) as temporary:
        PARAMS_TO_FILE(self, str(temporary), preference_orders)


def vocabulary_to_files(self: Vocabulary, directory: StrPath) -> None:
    path = Path(directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        VOCABULARY_TO_FILES(self, str(temporary))
        if not path.exists():
            temporary.rename(path)
            return
        for file in temporary.glob("*.txt"):
            file.replace(path / file.name)


def archive_model(
    serialization_dir: StrPath,
    weights: str = "best.th",
    archive_path: StrPath | None = None,
    include_in_archive: list[str] | None = None,
) -> str:
    folder = Path(serialization_dir)
    path = Path(archive_path or folder)
    if path.is_dir():
        path /= "model.tar.gz"
    members = {
        archival.CONFIG_NAME: folder / archival.CONFIG_NAME,
        archival._WEIGHTS_NAME: folder / weights,
        "vocabulary": folder / "vocabulary",
    }
    for file in members.values():
        if not file.exists():
            raise FileNotFoundError(f"{file} does not exist, so the model cannot be archived")
    for pattern in (archival.META_NAME, *(include_in_archive or [])):
        members |= {name: folder / name for name in glob.glob(pattern, root_dir=folder)}
    with (
        replace_when_written(path) as temporary,
        tarfile.open(temporary, "w:gz", compresslevel=COMPRESSION_LEVEL) as archive,
    ):
        for name, file in members.items():
            archive.add(file, arcname=name)
    return str(path)


def dump_metrics(file_path: str | None, metrics: dict[str, Any], log: bool = False) -> None:
    if file_path:
        remove_leftovers(Path(file_path).parent, Path(file_path).name)
        with replace_when_written(file_path) as temporary:
            DUMP_METRICS(str(temporary), metrics)
    DUMP_METRICS(None, metrics, log)


def predict_from_args(args: argparse.Namespace) -> None:
    with _outputs(args, {"output_file": [args.output_file]}):
        PREDICT(args)


def evaluate_from_args(args: argparse.Namespace) -> Any:
    names = ("output_file", "predictions_output_file")
    with _outputs(args, {name: (getattr(args, name) or "").split(":") for name in names}):
        return EVALUATE(args)


@contextmanager
def _outputs(args: argparse.Namespace, outputs: dict[str, list[str]]) -> Iterator[None]:
    """
    Checks the outputs that arguments name, and gives files that are there temporary names until the block
    succeeds. A new file is written in place, so that a run that is stopped keeps what it has predicted; one
    that predicted nothing leaves none.

    Raises `ConfigurationError` if an output is a folder, or is an input.
    """
    given = {name: [path for path in paths if path] for name, paths in outputs.items()}
    checked = [Output(f"--{name.replace('_', '-')}", path) for name in given for path in given[name]]
    with as_configuration_error():
        check_outputs(checked, named_files(value for name, value in vars(args).items() if name not in given))
    with ExitStack() as stack:
        for name, paths in given.items():
            written = [
                str(stack.enter_context((replace_when_written if os.path.isfile(path) else _new_file)(path)))
                for path in paths
            ]
            setattr(args, name, ":".join(written) or None)
        yield


@contextmanager
def _new_file(path: str) -> Iterator[str]:
    """Removes what the block has made at `path`, if it fails and nothing is in it."""
    is_new = not os.path.exists(path)
    try:
        yield path
    except BaseException:
        if is_new and os.path.isfile(path) and os.path.getsize(path) == 0:
            os.remove(path)
        raise


Params.to_file = params_to_file  # type: ignore[method-assign]
Vocabulary.save_to_files = vocabulary_to_files  # type: ignore[method-assign]
archival.archive_model = train.archive_model = archive_model
util.dump_metrics = training_util.dump_metrics = dump_metrics
evaluator.dump_metrics = dump_metrics
predict._predict = predict_from_args
evaluate.evaluate_from_args = evaluate_from_args
