"""What AllenNLP writes: each file is replaced only by a complete one, and no input is replaced.

`allennlp train` writes the configuration and the vocabulary of a run again each time it starts, and
`--recover` cannot read what a kill has left half-written. `allennlp predict` and `evaluate` empty their
outputs before they read anything. The functions that their parsers name are bound before AllenNLP imports a
plugin, so what these call is replaced.
"""

import argparse
import glob
import inspect
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from allennlp.commands import evaluate, predict, train
from allennlp.common import Params, util
from allennlp.data import Vocabulary
from allennlp.evaluation import evaluator
from allennlp.models import archival
from allennlp.predictors import Predictor
from allennlp.training import util as training_util

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import atomic_write, naming_file_in_errors, remove_leftovers
from elmo_plugin.common.outputs import Output, check_outputs, named_files

PARAMS_TO_FILE = Params.to_file
VOCABULARY_TO_FILES = Vocabulary.save_to_files
DUMP_METRICS = util.dump_metrics
GET_PREDICTOR = predict._get_predictor
MANAGER = predict._PredictManager
INIT = MANAGER.__init__
RUN = MANAGER.run
EVALUATE = evaluate.evaluate_from_archive
_OUTPUTS = {
    "metrics_output_file": "--output-file",
    "predictions_output_file": "--predictions-output-file",
}

# AllenNLP compresses at level 9, which takes eight times as long and makes weights 3 % smaller.
COMPRESSION_LEVEL = 1

StrPath = str | os.PathLike[str]


def params_to_file(self: Params, params_file: str, preference_orders: list[list[str]] | None = None) -> None:
    with atomic_write(params_file) as temporary:
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
        atomic_write(path) as temporary,
        tarfile.open(temporary, "w:gz", compresslevel=COMPRESSION_LEVEL) as archive,
    ):
        for name, file in members.items():
            archive.add(file, arcname=name)
    return str(path)


def dump_metrics(file_path: str | None, metrics: dict[str, Any], log: bool = False) -> None:
    if file_path:
        remove_leftovers(Path(file_path).parent, Path(file_path).name)
        with atomic_write(file_path) as temporary:
            DUMP_METRICS(str(temporary), metrics)
    DUMP_METRICS(None, metrics, log)


def get_predictor(args: argparse.Namespace) -> Predictor:
    """Raises `ConfigurationError` if the output of `allennlp predict` is a folder, or is an input."""
    output = args.output_file
    args.output_is_new = bool(output) and not os.path.exists(output)  # for the last words of a stop
    others = {name: value for name, value in vars(args).items() if name != "output_file"}
    _check({"--output-file": [output] if output else []}, others.values())
    return GET_PREDICTOR(args)


def manager_init(
    self: Any, predictor: Predictor, input_file: str, output_file: str | None, *args: Any, **kwargs: Any
) -> None:
    """Gives an output that is there a temporary name until `run` succeeds."""
    with ExitStack() as stack:
        written = stack.enter_context(_written(output_file)) if output_file else None
        INIT(self, predictor, input_file, written, *args, **kwargs)
        self._outputs = stack.pop_all()
        self._output_name = output_file or "the standard output"


def manager_run(self: Any) -> None:
    """Raises `OSError`, naming the output, where it cannot be written."""
    with self._outputs, naming_file_in_errors(self._output_name):
        try:
            RUN(self)
        finally:
            if self._output_file is not None:
                self._output_file.close()  # so that all that was predicted is in it


def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """Raises `ConfigurationError` if an output is a folder, or is an input."""
    given = inspect.signature(EVALUATE).bind(*args, **kwargs).arguments
    if given.get("auto_names", "NONE") != "NONE":  # AllenNLP chooses the names
        return EVALUATE(**given)
    outputs = {name: [path for path in (given.get(name) or "").split(",") if path] for name in _OUTPUTS}
    others = [value for name, value in given.items() if name not in _OUTPUTS]
    inputs = [*others, given["input_file"].split(",")]
    _check({_OUTPUTS[name]: paths for name, paths in outputs.items()}, inputs)
    with ExitStack() as stack:
        for name, paths in outputs.items():
            given[name] = ",".join(stack.enter_context(_written(path)) for path in paths) or None
        return EVALUATE(**given)


def _check(outputs: Mapping[str, Iterable[str]], inputs: Iterable[Any]) -> None:
    """Raises `ConfigurationError`, naming the option, if an output is a folder, or is an input."""
    named = [Output(option, path) for option, paths in outputs.items() for path in paths]
    with as_configuration_error():
        check_outputs(named, named_files(inputs))


@contextmanager
def _written(path: str) -> Iterator[str]:
    """
    Yields a temporary name for a file that is there, until the block succeeds. A new file is written in
    place, so that a run that is stopped keeps what it has predicted; one that predicted nothing leaves none.
    """
    with (atomic_write if os.path.isfile(path) else _new_file)(path) as written:
        yield str(written)


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
predict._get_predictor = get_predictor
MANAGER.__init__ = manager_init  # type: ignore[method-assign]
MANAGER.run = manager_run  # type: ignore[method-assign]
evaluate.evaluate_from_archive = evaluate_from_archive
